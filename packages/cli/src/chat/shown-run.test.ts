import { Agent, type FeedItem, Session, say } from "@banyan/core";
import { scriptedModel, spend, text } from "@banyan/core/testing";
import { expect, test } from "vitest";
import { ShownRun } from "./shown-run.ts";

/** All that two turns tell, the second of them with a branch of its own beside it at the same time. */
async function told(shown: (session: Session) => ShownRun, begin: (run: ShownRun, item: FeedItem) => void) {
  const session = Session.inMemory();
  const run = shown(session);
  session.listen({
    items: (items) => {
      for (const item of items) {
        begin(run, item);
        run.count(item);
      }
    },
    ended: () => {},
  });
  const model = scriptedModel([
    [spend({ input: 10, output: 1 }), text("One.")],
    [spend({ input: 20, output: 2 }), text("Two.")],
    [spend({ input: 400, output: 40 }), text("Beside it.")],
  ]);
  const agent = new Agent({ model });
  for await (const _ of agent.chat(say("one"), { session }));
  const at = session.state.leaf ?? "";
  const turns = ["two", "beside"].map(async (words) => {
    for await (const _ of agent.chat(say(words), { session, at }));
  });
  await Promise.all(turns);
  return run;
}

test("what a turn took is its own, and none of a branch beside it", async () => {
  const begun: string[] = [];
  const run = await told(
    (session) => new ShownRun(() => session.state),
    (shown, item) => {
      if (item.type !== "run.started") return;
      begun.push(item.run);
      // The person sees the second turn; what begins beside it is not theirs.
      if (begun.length <= 2) shown.begin(item, undefined, true);
    },
  );
  expect(begun).toHaveLength(3);
  expect(run.spent("none")).toMatchObject({ steps: 1, usage: { input: 20, output: 2 } });
});

test("of a turn that was not seen to begin it is not said what it took", async () => {
  const run = await told(
    (session) => new ShownRun(() => session.state),
    (shown, item) => {
      if (item.type === "run.started")
        shown.find([{ id: item.run, agent: "", mode: "chat", startedAt: 0, leaf: null }]);
    },
  );
  expect(run.spent("none")).toBeUndefined();
});
