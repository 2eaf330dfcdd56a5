import { describe, expect, test } from "vitest";
import { z } from "zod";
import { textOf } from "../conversation/message.ts";
import { pathTo } from "../conversation/tree/path.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { Store } from "../ports/store.ts";
import { Session } from "../session/session.ts";
import { collect } from "../testing/collect.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { Agent, type AgentOptions } from "./agent.ts";
import { resume, say } from "./directive.ts";

const model = scriptedModel(() => "Hello.");
const agent = new Agent({ model });
const tool = defineTool({
  name: "look",
  description: "Looks.",
  input: { type: "object" },
  effects: "none",
  execute: () => "seen",
});

/** Values that untyped programs may pass. */
const wrong = <T>(value: unknown): T => value as T;

describe("a mistake is an immediate error with a remedy", () => {
  test.each<[string, unknown, RegExp]>([
    ["the name of a model", "openai/gpt-5", /resolveModel\("provider\/model"\).*The given model is a name/],
    ["a model that nobody awaited", Promise.resolve(model), /The given model is a promise: await it/],
    ["an object that is no model", {}, /The given model is of type object/],
    ["a model of an older package", { specificationVersion: "v2" }, /version v2 .* Update the package of the model/],
    ["nothing", undefined, /needs a model/],
  ])("B76: %s, when the agent is made", (_, given, sentence) => {
    const refused = { name: "OptionError", message: expect.stringMatching(sentence) };
    expect(() => new Agent({ model: wrong(given) })).toThrow(expect.objectContaining(refused));
  });

  test.each<[string, object, string]>([
    ["of an agent", { instruction: "Be brief." }, "instruction is no option of an agent; did you mean instructions?"],
    [
      "of its settings",
      { settings: { temprature: 1 } },
      "settings.temprature is no option of an agent; did you mean settings.temperature?",
    ],
    [
      "of its limits",
      { limits: { maxSteps: 3 } },
      "limits.maxSteps is no option of an agent; the options are steps, tokens, cost, time, depth, repeats, policy.",
    ],
    [
      "of its retries",
      { retry: { attempt: 3 } },
      "retry.attempt is no option of an agent; did you mean retry.attempts?",
    ],
    [
      "of its bounds",
      { bounds: { answers: 3 } },
      "bounds.answers is no option of an agent; did you mean bounds.answer?",
    ],
    [
      "of its compaction",
      { compaction: { treshold: 0.5 } },
      "compaction.treshold is no option of an agent; did you mean compaction.threshold?",
    ],
    ["of its memory", { memory: { stores: 1 } }, "memory.stores is no option of an agent; did you mean memory.store?"],
    [
      "of its callbacks",
      { callbacks: { onCal() {} } },
      "callbacks.onCal is no option of an agent; did you mean callbacks.onCall or callbacks.onCalls?",
    ],
  ])("B72: a misspelt option %s, with the nearest right one", (_, options, sentence) => {
    expect(() => agent.with(wrong<Partial<AgentOptions>>(options))).toThrow(sentence);
  });

  test("B76: a memory or a store of the wrong type", async () => {
    expect(() => agent.with({ memory: wrong({ store: Promise.resolve({}) }) })).toThrow(/memory.store is no memory/);
    await expect(Session.open(wrong(Promise.resolve({})))).rejects.toThrow(/needs a store.*a promise: await it/);
    await expect(Session.open(wrong(undefined))).rejects.toMatchObject({ code: "invalid-option" });
  });

  test.each<[string, object, RegExp]>([
    ["a mode that does not exist", { mode: "tasks" }, /mode is "tasks"; it must be "chat" or "task"/],
    ["a policy that does not exist", { limits: { policy: "wrapup" } }, /limits.policy is "wrapup"; it must be/],
    ["a topP above 1", { settings: { topP: 1.1 } }, /settings.topP is 1.1; it must be a number from 0 to 1/],
    ["a seed that is no whole number", { settings: { seed: 0.5 } }, /settings.seed is 0.5; it must be a whole number/],
    ["a stop text without a list", { settings: { stop: "END" } }, /settings.stop of an agent must be a list/],
    ["an empty stop text", { settings: { stop: [""] } }, /settings.stop is \[""\]; it must be a list of texts/],
    ["tools that are no list", { tools: { tool } }, /must be an array/],
    ["a tool that nobody made", { tools: [() => tool] }, /the given value has the type function/],
    ["a tool that does nothing", { tools: [{ ...tool, execute: undefined }] }, /"look" needs an execute function/],
    [
      "a tool that may say nothing",
      { tools: [{ ...tool, maxOutput: -1 }] },
      /maxOutput of tool "look" is -1; it must be/,
    ],
    [
      "a schema that no model can be given",
      { tools: [{ ...tool, input: z.object({ on: z.date() }) }] },
      /schema of tool "look"/,
    ],
    ["an output that no model can be given", { mode: "task", output: z.date() }, /schema of output cannot be sent/],
    ["an output that is no schema", { output: "city" }, /output must be a schema, such as z.object.*not a string/],
    ["an output that matches no value", { output: z.never() }, /schema of output matches no value/],
    ["an output with an empty list of values", { mode: "task", output: { enum: [] } }, /output matches no value/],
    ["a tool that hides its effects", { tools: [{ ...tool, effects: "read" }] }, /must declare its effects: "none"/],
    [
      "a tool that is vague about files",
      { tools: [{ ...tool, files: "reads" }] },
      /"look" has the option files: "reads"/,
    ],
  ])("%s", async (_, options, sentence) => {
    const made = async () => agent.with(wrong<Partial<AgentOptions>>(options));
    await expect(made().then((changed) => changed.send("Hello"))).rejects.toThrow(sentence);
  });

  test("a text in place of a directive, an invalid message, and a session without await", () => {
    expect(() => agent.chat(wrong("Hello"))).toThrow(/begins with a directive: agent.chat\(say/);
    expect(() => say(wrong(5))).toThrow(/must be a string, an array of parts, .* not a number/);
    expect(() => agent.chat(say("Hello"), { session: wrong(Promise.resolve(Session.inMemory())) })).toThrow(/await/);
  });

  test("a turn handler that returns only a directive", async () => {
    const chat = agent.with({ onTurn: () => wrong(say("More")) }).chat(say("Hello"));
    await expect(collect(chat)).rejects.toMatchObject({ name: "ChatError", code: "no-chat" });
  });

  test.each([undefined, null])("a turn handler that rejects with %s", async (nothing) => {
    const chat = agent.with({ onTurn: () => Promise.reject(nothing) }).chat(say("Hello"));
    await expect(collect(chat)).rejects.toThrow(/rejected without a reason/);
  });

  test.each([0, -1, 1.5, Number.NaN])("a window of %s messages, before the conversation is opened", async (window) => {
    const refused = { name: "SessionError", code: "invalid-option", message: expect.stringContaining(`is ${window};`) };
    expect(() => Session.inMemory({ window })).toThrow(expect.objectContaining(refused));
    const store = { open: () => expect.unreachable() } as unknown as Store;
    await expect(Session.open(store, undefined, { window })).rejects.toMatchObject(refused);
  });

  test("an empty text for a running turn, and a text in place of its shape", async () => {
    const session = Session.inMemory();
    await expect(session.say(wrong({}))).rejects.toMatchObject({ name: "DirectiveError", code: "malformed" });
    await expect(session.say(" ")).rejects.toMatchObject({ name: "SessionError", code: "empty" });
    const id = await session.say("Hello");
    await expect(session.editInput(id, { parts: [] })).rejects.toMatchObject({ code: "empty" });
    await collect(agent.chat(resume(), { session }));
    expect(pathTo(session.state, session.state.leaf).map(textOf)).toEqual(["Hello", "Hello."]);
  });

  test("an unknown branch", async () => {
    const session = Session.inMemory();
    await expect(agent.compact({ session, at: "nowhere" })).rejects.toMatchObject({ code: "unknown-message" });
    await expect(agent.send("Hello", { session, at: "nowhere" })).rejects.toMatchObject({ code: "unknown-message" });
  });

  test("a message with a used id", async () => {
    const session = Session.inMemory();
    await agent.send("Hello", { session, id: "first" });
    await expect(agent.send("Anybody?", { session, id: "first" })).rejects.toMatchObject({ code: "used-id" });
    await expect(agent.send("Anybody?", { session, id: ".." })).rejects.toMatchObject({ code: "no-id" });
    expect((await agent.send("Hello again", { session })).reason).toBe("answered");
  });

  test("a chat on a closed session", async () => {
    const session = Session.inMemory();
    await session.close();
    await expect(collect(agent.chat(say("Hello"), { session }))).rejects.toMatchObject({ code: "closed" });
  });
});
