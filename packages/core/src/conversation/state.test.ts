import fc from "fast-check";
import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { retry } from "../agent/directive.ts";
import { defineTool } from "../ports/define-tool.ts";
import { SlowStore } from "../session/session.fixture.ts";
import { Session } from "../session/session.ts";
import { call, collect, scriptedModel } from "../testing/index.ts";
import { type ConversationState, emptyConversation } from "./state.ts";
import { reduce } from "./tree/reduce.ts";

const clock = defineTool({
  name: "clock",
  description: "Tells the time.",
  input: { type: "object" },
  effects: "none",
  execute: () => "12:30",
});

const asJson = (state: ConversationState) => JSON.parse(JSON.stringify(state));

test("L5: JSON.stringify(session.state) has the tree, the open question and the cost, also after a restart", async () => {
  const store = new SlowStore();
  const first = await Session.open(store, "noon", { labels: { project: "clocks" } });
  const model = scriptedModel([[call("clock", {}, "c1")], "Half past twelve.", "12:30.", [call("clock", {}, "c2")]]);
  const agent = new Agent({ model, tools: [clock] });
  await agent.send("What time is it?", { session: first });
  await collect(agent.chat(retry(), { session: first }));
  const asks = agent.with({ permission: () => ({ decision: "ask" }) });
  await asks.send("And now?", { session: first, untilAsked: true });
  await first.close();
  const state = asJson(first.state);

  const { messages, questions, leaf, usage, labels } = state;
  expect({ leaf, labels }).toEqual({ leaf: first.state.leaf, labels: { project: "clocks" } });
  expect(usage).toEqual(first.state.usage);
  const [asked, answer, one, other, again, waiting] = messages;
  const parents = messages.map(({ parentId }: { parentId: string | null }) => parentId);
  expect(parents).toEqual([null, asked.id, answer.id, asked.id, other.id, again.id]);
  expect(answer.calls).toMatchObject([{ id: "c1", tool: "clock", status: "completed", output: "12:30" }]);
  expect([one.parts, other.parts]).toEqual([
    [{ type: "text", text: "Half past twelve." }],
    [{ type: "text", text: "12:30." }],
  ]);
  expect(questions).toMatchObject([{ type: "approval", message: waiting.id, call: "c2" }]);

  const second = await Session.open(store, "noon");
  const { seq: _, epoch: __, ...restored } = asJson(second.state);
  expect(state).toMatchObject({ ...restored, waiting: expect.any(Array) });
  expect(asJson(second.snapshot().state)).toEqual(asJson(second.state));
  await second.close();
});

test("L5: the JSON of any tree has all messages in order, and its parents give the children of the state", () => {
  const tree = fc.array(fc.tuple(fc.oneof(fc.nat(20).map(String), fc.constant("__proto__")), fc.nat()), {
    maxLength: 12,
  });
  fc.assert(
    fc.property(tree, (nodes) => {
      const state = emptyConversation("tree");
      const ids: (string | null)[] = [null];
      for (const [index, [id, above]] of nodes.entries()) {
        if (ids.includes(id)) continue;
        const parentId = ids[above % ids.length] ?? null;
        const parts = [{ type: "text", text: `${index}` }] as const;
        const added = { type: "message.added", message: id, parentId, role: "user", parts } as const;
        reduce(state, { ...added, seq: state.seq + 1, epoch: 1, at: index });
        ids.push(id);
      }
      const { messages } = asJson(state);
      expect(messages).toEqual([...state.messages.values()]);
      const children = new Map<string | null, string[]>();
      for (const { id, parentId } of messages) children.set(parentId, [...(children.get(parentId) ?? []), id]);
      expect(children).toEqual(state.children);
    }),
    { numRuns: 50 },
  );
});
