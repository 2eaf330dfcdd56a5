import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import type { Event } from "../conversation/event.ts";
import { textOf } from "../conversation/message.ts";
import { siblings } from "../conversation/tree/path.ts";
import type { ModelRequest } from "../ports/model.ts";
import { Session } from "../session/session.ts";
import { checkConversation } from "../testing/check-conversation.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { storeOf } from "../turn/store-of.fixture.ts";
import { editSummary } from "./edit-summary.ts";

/** A conversation with a requested summary, in a store that outlives its session. */
async function summedUp(...then: readonly string[]) {
  const model = scriptedModel(["One.", "Two.", "The user likes figs.", ...then]);
  const events: Event[] = [];
  const [agent, session] = [new Agent({ model }), await Session.open(storeOf(events), "x")];
  for (const said of ["Order: use tabs.", "Two?"]) await agent.send(said.padEnd(900, " word"), { session });
  expect(await agent.compact({ session })).toBeUndefined();
  return { agent, session, model, events, summary: session.state.leaf as string };
}

const beginOf = (request: ModelRequest | undefined) =>
  request?.messages[0]?.parts.map((part) => ("text" in part ? part.text : "")).join("") ?? "";

test("F99: an edited summary is a branch beside the old one, and the next request on its branch begins with it", async () => {
  const { agent, session, model, summary } = await summedUp("Plums.", "Figs.");
  const edited = await editSummary(session, summary, "The user likes plums.");
  expect(siblings(session.state, edited)).toEqual([summary, edited]);
  expect(session.state.leaf).toBe(edited);
  const [before, after] = [summary, edited].map((id) => session.state.messages.get(id));
  const {
    id: _a,
    createdAt: _b,
    parts: _c,
    usage: _d,
    cost: _e,
    compaction: sizes,
    ...kept
  } = before as never as Record<string, unknown>;
  expect(after).toMatchObject(kept);
  expect(after).toMatchObject({
    parts: [{ text: "The user likes plums." }],
    compaction: { messages: (sizes as { messages: number }).messages },
  });
  await agent.send("What do I like?", { session });
  expect(beginOf(model.requests.at(-1))).toContain("The user likes plums.");
  expect(beginOf(model.requests.at(-1))).toContain("Order: use tabs.");
  expect(beginOf(model.requests.at(-1))).not.toContain("figs");
  await agent.send("And here?", { session, at: summary });
  expect(beginOf(model.requests.at(-1))).toContain("The user likes figs.");
  expect(checkConversation(session.state)).toEqual([]);
});

test("F99: an edited summary counts nothing, is there after a restart, and is added once", async () => {
  const { session, events, summary } = await summedUp();
  const { usage } = session.state;
  const edited = await editSummary(session, summary, "The user likes plums, and nothing else.", "edited");
  expect(await editSummary(session, summary, "Another text.", "edited")).toBe(edited);
  expect(session.state.usage).toEqual(usage);
  await session.close();
  const again = await Session.open(storeOf(events), "x");
  expect(textOf(again.state.messages.get(edited) as never)).toBe("The user likes plums, and nothing else.");
  const model = scriptedModel(["Plums."]);
  await new Agent({ model }).send("What do I like?", { session: again });
  expect(beginOf(model.requests[0])).toContain("plums, and nothing else");
  expect(checkConversation(again.state)).toEqual([]);
});

test("F99: only a summary can be edited, with some text and an id that can be one", async () => {
  const { session, summary } = await summedUp();
  const [first] = session.state.messages.keys();
  await expect(editSummary(session, "nowhere", "x")).rejects.toMatchObject({ code: "no-message" });
  await expect(editSummary(session, first as string, "x")).rejects.toMatchObject({ code: "no-message" });
  await expect(editSummary(session, summary, " \n")).rejects.toMatchObject({
    code: "empty",
    message: "A summary needs some text; this summary is empty.",
  });
  await expect(editSummary(session, summary, "x", "a\nb")).rejects.toMatchObject({ code: "invalid-option" });
});
