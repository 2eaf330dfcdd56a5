import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { say } from "../agent/directive.ts";
import type { Event } from "../conversation/event.ts";
import type { FeedItem } from "../conversation/feed-item.ts";
import { Session } from "../session/session.ts";
import { scriptedModel, spend, text } from "../testing/index.ts";

type RunEnded = Extract<Event, { type: "run.ended" }>;

function endsIn(session: Session): RunEnded[] {
  const ends: RunEnded[] = [];
  const isEnd = (item: FeedItem) => item.type === "run.ended";
  session.listen({ items: (items) => ends.push(...items.filter(isEnd)), ended: () => {} });
  return ends;
}

test("the end of a turn has the turn's own usage, and none of a simultaneous branch", async () => {
  const session = Session.inMemory();
  const ends = endsIn(session);
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
  const spent = ends
    .map((end) => end.spent)
    .toSorted((one, other) => (one?.usage.input ?? 0) - (other?.usage.input ?? 0));
  expect(spent).toMatchObject([
    { steps: 1, usage: { input: 10, output: 1 } },
    { steps: 1, usage: { input: 20, output: 2 } },
    { steps: 1, usage: { input: 400, output: 40 } },
  ]);
});
