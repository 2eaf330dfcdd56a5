import { describe, expect, test } from "vitest";
import type { Event } from "../conversation/event.ts";
import { createId } from "../conversation/id.ts";
import { textOf } from "../conversation/message.ts";
import { defineTool } from "../ports/tool.ts";
import { Session } from "../session/session.ts";
import { collect } from "../testing/collect.ts";
import { call, type Scene, scriptedModel, stall, text } from "../testing/scripted-model.ts";
import { storeOf } from "../turn/store-of.fixture.ts";
import { Agent } from "./agent.ts";
import { shortenConversation } from "./control/shorten-conversation.ts";
import { resume, say } from "./directive.ts";

/** A conversation that can be shortened, with what is answered then. */
async function talked(...then: readonly Scene[]) {
  const model = scriptedModel(["Because ".padEnd(2_000, "it is warm, "), "Two.", "Three.", "Four.", ...then]);
  const events: Event[] = [];
  const [agent, session] = [new Agent({ model }), await Session.open(storeOf(events), "x")];
  for (const said of ["One?", "Two?", "Three?", "Four?"]) await agent.send(said, { session });
  return { agent, session, model, events };
}

test("B42: the summary that somebody asks for keeps what they want, in the words of the request alone", async () => {
  const { agent, session, model } = await talked("Summed up in a few words.");
  expect(await agent.compact({ session, keep: "every colour" })).toBeUndefined();
  const asked = model.requests.at(-1)?.messages.at(-1);
  expect(JSON.stringify(asked)).toMatch(
    /Answer with the summary alone; .* Above all, keep what the person asks .*:\\nevery colour"/,
  );
  const messages = [...session.state.messages.values()];
  expect(messages.filter(({ role }) => role === "summary").map(textOf)).toEqual(["Summed up in a few words."]);
  expect(messages.some((message) => textOf(message).includes("colour"))).toBe(false);
});

test("B42: the run of a summary has the id that is given, and is interrupted alone", async () => {
  const { agent, session } = await talked([text("Su"), stall()], [text("Five"), stall()]);
  const id = createId();
  const shortening = agent.compact({ session, id });
  const [first = ""] = session.state.messages.keys();
  const other = agent.send("And else?", { session, at: first });
  await expect.poll(() => session.state.runs.size).toBe(1);
  expect(session.interrupt(id)).toBe(1);
  expect(await shortening).toBe("interrupted by the user");
  expect(session.state.runs.size).toBe(1);
  session.interrupt();
  await other;
});

/** A conversation that can be shortened, and whose last turn waits for a user, as a process that ends leaves it. */
async function waiting(end: "leave" | "kill", asking: Scene, ...then: readonly Scene[]) {
  const { agent: plain, session: talking, model, events } = await talked(asking, ...then);
  const send = defineTool({
    ...{ name: "send", description: "", input: { type: "object" }, effects: "external" },
    execute: () => "sent",
  });
  const agent = plain.with({
    tools: [send, shortenConversation()],
    compaction: {},
    permission: ({ tool }) => ({ decision: tool.name === "send" ? "ask" : "allow" }),
  });
  const isOpen = (type: string) =>
    events.some((event) => event.type === type && "tool" in event && event.tool === "send");
  const isOver = () => isOpen("call.approval-requested") && model.requests.length === 5;
  const feed = agent.chat(say("Send it."), { session: talking })[Symbol.asyncIterator]();
  while (!isOver()) await feed.next();
  for (let wait = 0; wait < 5; wait++) await new Promise(setImmediate);
  const killed = structuredClone(events);
  await feed.return?.();
  await talking.close();
  const session = await Session.open(storeOf(end === "kill" ? killed : events), "x");
  return { agent, session, model, question: session.openQuestions[0]?.id ?? "" };
}

describe.each(["leave", "kill"] as const)("F72: a branch that waits for a user (%s)", (end) => {
  test("is not shortened: its question stays, and the model is shown the call's result", async () => {
    const { agent, session, model, question } = await waiting(end, [call("send")], "It is sent.");
    const before = session.state.messages.size;
    expect(await agent.compact({ session })).toBe(
      "This branch waits for a user. Answer the question, or interrupt the turn, and shorten the branch then.",
    );
    expect([session.openQuestions.map(({ id }) => id), session.state.messages.size]).toEqual([[question], before]);
    // An earlier place is another branch.
    const [first = ""] = session.state.messages.keys();
    expect(await agent.compact({ session, at: first })).toBe("There is nothing to shorten yet.");
    await session.answer(question, { decision: "allow" });
    await collect(agent.chat(resume(), { session }));
    expect(JSON.stringify(model.requests.at(-1))).toContain('"output":"sent"');
  });

  test("keeps a summary that another call of the same response wrote", async () => {
    const summary = call("shorten_conversation", { summary: "Red is liked." });
    const { agent, session, model, question } = await waiting(end, [summary, call("send")], "It is sent.", "Yes.");
    await session.answer(question, { decision: "allow" });
    await collect(agent.chat(resume(), { session }));
    const shown = JSON.stringify(model.requests.at(-1));
    const seen = ["Red is liked.", "it is warm", '"output":"sent"'].map((text) => shown.includes(text));
    expect(seen).toEqual([true, false, true]);
    await agent.send("And?", { session });
    const summaries = [...session.state.messages.values()].filter(({ role }) => role === "summary");
    expect(summaries.map(textOf)).toEqual(["Red is liked."]);
  });
});
