import { expect, test } from "vitest";
import type { FeedItem } from "../conversation/feed-item.ts";
import { type Message, textOf } from "../conversation/message.ts";
import { pathTo } from "../conversation/tree/path.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { PromptMessage } from "../ports/model.ts";
import { Session } from "../session/session.ts";
import { call, checkConversation, collect, cut, pause, scriptedModel, text } from "../testing/index.ts";
import { Agent } from "./agent.ts";
import { resume, retry, say } from "./directive.ts";

/** The users' texts of a prompt or of a path. */
function saidIn(messages: readonly (PromptMessage | Message)[]): string {
  const said = messages.filter(({ role }) => role === "user");
  return said.map(({ parts }) => parts.map((part) => (part.type === "text" ? part.text : "")).join("")).join(", ");
}

test("B11: chats that continue from one place, in turn and at once, show the model and their handlers their own path", async () => {
  // The model answers with the texts that it sees.
  const agent = new Agent({ model: scriptedModel(({ messages }) => [pause(1), text(saidIn(messages))]) });
  const session = Session.inMemory();
  const places: string[] = [];
  for (const word of ["one", "two", "three"]) {
    const { message } = await agent.send(word, { session });
    places.push(message?.id ?? "");
  }
  const talk = async (at: string, name: string) => {
    let turns = 0;
    const talking = agent.with({
      onTurn: async (conversation, self, turn) => {
        const leaf = turn.message?.id ?? "";
        // Another user continues there before this user does, and before the handler reads the path.
        await agent.send(`beside ${name}${turns}`, { session, at: leaf });
        expect(saidIn(conversation.path)).toBe(turn.text);
        return ++turns < 4 ? self.chat(say(`${name}${turns}`), { at: leaf }) : undefined;
      },
    });
    for await (const _ of talking.chat(say(`${name}0`), { session, at }));
  };
  await Promise.all(places.map((place, index) => talk(place, "abc"[index] ?? "")));

  const answers = [...session.state.messages.values()].filter(({ role }) => role === "assistant");
  expect(answers).toHaveLength(3 + 3 * 4 * 2);
  for (const answer of answers) expect(textOf(answer)).toBe(saidIn(pathTo(session.state, answer.id)));
  expect(answers.map(textOf)).toContain("one, two, b0, b1, b2, beside b2");
});

test("B49: simultaneous messages below one named message make branches, as they do one after the other", async () => {
  const agent = new Agent({ model: scriptedModel(({ messages }) => saidIn(messages)) });
  const session = Session.inMemory();
  const { message } = await agent.send("root", { session });
  const at = message?.id ?? "";
  const turns = await Promise.all(["a", "b", "c"].map((word) => agent.send(word, { session, at })));
  expect(turns.map(({ text }) => text)).toEqual(["root, a", "root, b", "root, c"]);
  expect(session.state.children.get(at)).toHaveLength(3);
});

test("B11: simultaneous messages without a named place form one branch", async () => {
  const agent = new Agent({ model: scriptedModel(({ messages }) => saidIn(messages)) });
  const session = Session.inMemory();
  await agent.send("root", { session });
  const turns = await Promise.all(["a", "b"].map((word) => agent.send(word, { session })));
  expect(turns.map(({ text }) => text)).toEqual(["root, a", "root, a, b"]);
});

test("B49: a message below another message waits for the summary of that message", async () => {
  const model = scriptedModel(({ messages }) => [
    pause(5),
    text(saidIn(messages).includes("Sum up the conversation above") ? "Short." : saidIn(messages)),
  ]);
  const agent = new Agent({ model });
  const session = Session.inMemory();
  for (let i = 0; i < 5; i++) await agent.send(`${i} `.repeat(50), { session });
  const at = session.state.leaf ?? "";
  const [, turn] = await Promise.all([agent.compact({ session }), agent.send("Next", { session, at })]);
  const path = pathTo(session.state, turn.message?.id ?? "");
  expect(path.map(({ role }) => role).slice(-3)).toEqual(["summary", "user", "assistant"]);
});

test("B70: a chat without a named place continues after the messages of another chat, sent while its handler waited", async () => {
  const agent = new Agent({ model: scriptedModel(({ messages }) => saidIn(messages)) });
  const session = Session.inMemory();
  let turns = 0;
  const waiting = agent.with({
    onTurn: async (_, self) => {
      if (turns++ > 0) return undefined;
      // Another user sends a message while the handler waits for this user.
      await agent.send("meanwhile", { session });
      return self.chat(say("two"));
    },
  });
  await collect(waiting.chat(say("one"), { session }));
  expect(pathTo(session.state, session.state.leaf).map(textOf)).toEqual([
    "one",
    "one",
    "meanwhile",
    "one, meanwhile",
    "two",
    "one, meanwhile, two",
  ]);
  expect([...session.state.children.values()].every((children) => children.length === 1)).toBe(true);
});

test("F25: a retry waits for a resume at the same message", async () => {
  const session = Session.inMemory();
  const model = scriptedModel([[text("Half"), cut()], "Whole.", "Another."]);
  const agent = new Agent({ model, retry: { attempts: 1 } });
  await collect(agent.chat(say("Go"), { session }));
  const [question = "", broken = ""] = session.state.messages.keys();
  const runs: string[] = [];
  session.listen({ items: (items) => runs.push(...items.map(runOf).filter((told) => told !== "")), ended: () => {} });
  await Promise.all([
    collect(agent.chat(retry(), { session, at: broken })),
    collect(agent.chat(resume(), { session, at: question })),
  ]);
  expect(runs).toEqual(["run.started", "run.ended", "run.started", "run.ended"]);
  expect(session.state.children.get(question)).toHaveLength(3);
});

function runOf({ type }: FeedItem): string {
  return type.startsWith("run.") ? type : "";
}

test("B21, F25: simultaneous resumes deliver waiting text once", async () => {
  const session = Session.inMemory();
  const model = scriptedModel(["First.", "Heard."]);
  const agent = new Agent({ model });
  await agent.send("one", { session });
  const id = await session.say([{ type: "text", text: "later" }]);
  await session.editInput(id, { parts: [{ type: "text", text: "later, changed" }] });
  const resumed = await Promise.allSettled([1, 2].map(() => collect(agent.chat(resume(), { session }))));
  expect(resumed.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect([...session.state.messages.values()].filter((said) => textOf(said) === "later, changed")).toHaveLength(1);
  expect(model.asked).toBe(2);
});

test("B21: a user's withdrawn text is not delivered by a turn that is about to deliver it", async () => {
  const session = Session.inMemory();
  const model = scriptedModel(["First."]);
  await new Agent({ model }).send("one", { session });
  const id = await session.say([{ type: "text", text: "never mind" }]);
  const modelNamed = async () => {
    await session.withdrawInput(id);
    return model;
  };
  const resumed = collect(new Agent({ model, modelNamed }).chat(resume(), { session }));
  await session.notes.changeModel("another");
  await expect(resumed).rejects.toMatchObject({ code: "no-input" });
  expect(session.state.messages.has(id)).toBe(false);
  expect(session.state.runs.size).toBe(0);
  expect(model.asked).toBe(1);
});

test("F83: a retry without waiting begins beside a turn that asks a user, and other continuations are refused", async () => {
  const session = Session.inMemory();
  const send = defineTool({
    name: "send",
    description: "",
    input: { type: "object" },
    effects: "external",
    execute: () => "sent",
  });
  const model = scriptedModel(({ messages }) =>
    messages.at(-1)?.role === "user" && saidIn(messages).endsWith("Go") ? [call("send")] : "Another.",
  );
  const agent = new Agent({ model, tools: [send], permission: () => ({ decision: "ask" }) });
  const turn = agent.send("Go", { session });
  await expect.poll(() => session.openQuestions.length).toBe(1);
  for (const directive of [resume(), say("Well?")])
    await expect(collect(agent.chat(directive, { session, wait: false }))).rejects.toMatchObject({ code: "busy" });
  await expect(agent.compact({ session, wait: false })).rejects.toMatchObject({ code: "busy" });
  const beside = await collect(agent.chat(retry("Come"), { session, wait: false }));
  expect(beside.at(-1)).toEqual({ type: "chat.ended", reason: "answered" });
  const again = collect(agent.chat(retry(), { session, at: [...session.state.messages.keys()][0], wait: false }));
  await expect.poll(() => session.openQuestions.length).toBe(2);
  for (const { id } of session.openQuestions) await session.answer(id, { decision: "deny" });
  await Promise.all([turn, again]);
  expect([...session.state.children.values()].map(({ length }) => length)).toEqual([2, 2, 1, 1, 1]);
  expect(checkConversation(session.state)).toEqual([]);
  // The next chat waits for a turn that is ending.
  const stopped = agent.send("Go", { session });
  await expect.poll(() => session.openQuestions.length).toBe(1);
  session.interrupt();
  const next = await collect(agent.chat(say("Now?"), { session, wait: false }));
  expect([(await stopped).reason, next.at(-1)]).toEqual(["interrupted", { type: "chat.ended", reason: "answered" }]);
});
