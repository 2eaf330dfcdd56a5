import { describe, expect, test } from "vitest";
import type { Event } from "../conversation/event.ts";
import type { FeedItem } from "../conversation/feed-item.ts";
import { textOf } from "../conversation/message.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { Guards } from "../ports/guards.ts";
import type { LoopDriver } from "../ports/tool.ts";
import { Session } from "../session/session.ts";
import {
  call,
  checkConversation,
  collect,
  cut,
  pause,
  reasoning,
  scriptedModel,
  spend,
  text,
  until,
} from "../testing/index.ts";
import { storeOf } from "../turn/store-of.fixture.ts";
import { Agent } from "./agent.ts";
import { launchAgent } from "./control/launch-agent.ts";
import { say } from "./directive.ts";

const noSecrets: Guards = {
  input: ({ text }) => (text.includes("SECRET") ? { refuse: "Write no secrets." } : undefined),
  output: ({ text }) => (text.includes("SECRET") ? { refuse: "It contains a secret." } : undefined),
};

const act = defineTool({
  name: "act",
  description: "Acts.",
  input: { type: "object" },
  effects: "external",
  execute: () => "done",
});

const texts = ({ state }: Session) => [...state.messages.values()].map(textOf);

/** A session with its log, and everything that a second reader of its feed gets. */
async function watched() {
  const events: Event[] = [];
  const session = await Session.open(storeOf(events), "x");
  const seen: FeedItem[] = [];
  session.listen({ items: (items) => seen.push(...items), ended() {} });
  return { session, events, seen };
}

describe("a guard of the input", () => {
  test("L6: refuses a message before anything is written", async () => {
    const { session, events } = await watched();
    const model = scriptedModel(["Hello."]);
    const agent = new Agent({ model, guards: noSecrets });
    await expect(agent.send("My SECRET is 7.", { session })).rejects.toMatchObject({
      name: "DirectiveError",
      code: "refused",
      message: "Write no secrets.",
    });
    expect(JSON.stringify(events)).not.toContain("SECRET");
    expect((await agent.send("Hi", { session })).text).toBe("Hello.");
    expect(model.asked).toBe(1);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("L6: replaces the text of a message and keeps its files, with the agent's context", async () => {
    const session = Session.inMemory();
    const model = scriptedModel(["Hello."]);
    const context = { hidden: "Ada" };
    const agent = new Agent({
      model,
      context,
      guards: { input: async ({ text }, { context }) => ({ replace: text.replaceAll(context.hidden, "someone") }) },
    });
    const file = { type: "file", mediaType: "text/plain", name: "a.txt", data: "YQ==" } as const;
    await agent.send([{ type: "text", text: "I am Ada." }, file], { session });
    expect(texts(session)).toEqual(["I am someone.", "Hello."]);
    expect(model.requests[0]?.messages[0]?.parts.map(({ type }) => type)).toEqual(["text", "file"]);
  });

  test("L6: a replacement without text keeps the files, or refuses the message", async () => {
    const model = scriptedModel(() => "Hello.");
    const agent = new Agent({ model, guards: { input: () => ({ replace: " " }) } });
    await expect(agent.send("Hi")).rejects.toMatchObject({
      code: "refused",
      message: "guards.input left nothing of the message.",
    });
    const file = { type: "file", mediaType: "text/plain", name: "a.txt", data: "YQ==" } as const;
    await agent.send([{ type: "text", text: "Hi" }, file]);
    expect(model.requests[0]?.messages[0]?.parts.map(({ type }) => type)).toEqual(["file"]);
  });

  test("L6: checks messages during a turn: replaces one, and withdraws one with a reason", async () => {
    const { session, seen } = await watched();
    const gate = Promise.withResolvers<void>();
    const model = scriptedModel([[until(gate.promise), call("act")], "Done."]);
    const input: Guards["input"] = ({ text }) => {
      if (text.includes("SECRET")) return { refuse: "Write no secrets." };
      return { replace: text.replace("Ada", "someone") };
    };
    const turn = new Agent({ model, tools: [act], guards: { input } }).send("Begin, Ada.", { session });
    await expect.poll(() => model.asked).toBe(1);
    await session.say("I am Ada.");
    await session.say("My SECRET is 7.");
    gate.resolve();
    await turn;
    expect(texts(session)).toEqual(["Begin, someone.", "", "I am someone.", "Done."]);
    expect(JSON.stringify(model.requests)).not.toMatch(/SECRET|Ada/);
    expect(seen).toContainEqual(
      expect.objectContaining({ type: "request.changed", reason: "A message was withdrawn: Write no secrets." }),
    );
    expect(session.state.inbox).toEqual([]);
  });

  test("L6: judges again the changes that a user makes while the guard decides", async () => {
    const session = Session.inMemory();
    const gate = Promise.withResolvers<void>();
    const model = scriptedModel([[until(gate.promise), call("act")], "Done."]);
    const judged: string[] = [];
    const input: Guards["input"] = async ({ text }) => {
      judged.push(text);
      if (text === "Good.") await session.editInput(session.state.inbox[0]?.id ?? "", { parts: "SECRET" });
      return noSecrets.input?.({ text, parts: [] }, {} as never);
    };
    const turn = new Agent({ model, tools: [act], guards: { input } }).send("Begin.", { session });
    await expect.poll(() => model.asked).toBe(1);
    await session.say("Good.");
    gate.resolve();
    await turn;
    expect(judged).toEqual(["Begin.", "Good.", "SECRET"]);
    expect(JSON.stringify(model.requests)).not.toContain("SECRET");
  });
});

describe("a guard of the output", () => {
  test("L6: with hold keeps a refused text out of the log and away from other readers", async () => {
    const { session, events, seen } = await watched();
    const model = scriptedModel([
      [reasoning("The SECRET is 7."), text("The ", "SECRET", " is 7."), call("act"), spend({ input: 9, output: 5 })],
      "Hello.",
    ]);
    const agent = new Agent({ model, tools: [act], guards: noSecrets });
    const error = await agent.send("Hi", { session }).catch((error: unknown) => error);
    expect(error).toMatchObject({ name: "TurnError", code: "refused", message: "It contains a secret." });
    // The refused response must be paid for.
    expect(error).toMatchObject({ turn: { reason: "failed", text: "", usage: { input: 9, output: 5 } } });
    expect(JSON.stringify([events, seen])).not.toContain("SECRET");
    expect(session.state.calls.size).toBe(0);
    expect(events.map(({ type }) => type)).toContain("message.abandoned");
    expect((await agent.send("Again", { session })).text).toBe("Hello.");
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("L6: with hold passes on the whole response with its calls", async () => {
    const { session, seen } = await watched();
    const model = scriptedModel([[reasoning("Hm."), text("I ", "act."), call("act")], "Done."]);
    const checked: unknown[] = [];
    const output: Guards["output"] = (response) => void checked.push(response);
    const turn = await new Agent({ model, tools: [act], guards: { output } }).send("Hi", { session });
    expect(turn.text).toBe("Done.");
    expect(checked).toEqual([
      { text: "I act.", reasoning: "Hm.", calls: [{ tool: "act", input: "{}" }] },
      { text: "Done.", reasoning: "", calls: [] },
    ]);
    const open = new Agent({
      model: scriptedModel([[reasoning("Hm."), text("I ", "act."), call("act")], "Done."]),
      tools: [act],
    });
    const plain = await watched();
    await open.send("Hi", { session: plain.session });
    expect(seen.map(({ type }) => type)).toEqual(plain.seen.map(({ type }) => type));
  });

  test.each([true, false])("L6: replaces the text and keeps the calls (hold: %s)", async (hold) => {
    const { session, events, seen } = await watched();
    const model = scriptedModel([[reasoning("Card 123."), text("Your card: 123."), call("act")], "Done."]);
    const output: Guards["output"] = ({ text }) => ({ replace: text.replaceAll("123", "###") });
    await new Agent({ model, tools: [act], guards: { output, hold } }).send("Hi", { session });
    expect(texts(session)).toEqual(["Hi", "Your card: ###.", "Done."]);
    expect(session.state.calls.size).toBe(1);
    expect(JSON.stringify(events)).not.toContain("123");
    expect(JSON.stringify(model.requests[1])).not.toContain("123");
    expect(JSON.stringify(seen).includes("123")).toBe(!hold);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("L6: without hold shows the text, and clients remove it", async () => {
    const { session, seen } = await watched();
    const model = scriptedModel([[text("The SECRET is 7."), call("act")]]);
    const items = await collect(
      new Agent({ model, tools: [act], guards: { ...noSecrets, hold: false } }).chat(say("Hi"), { session }),
    );
    expect(JSON.stringify(seen)).toContain("SECRET");
    expect(items).toContainEqual(
      expect.objectContaining({ type: "message.abandoned", reason: "It contains a secret." }),
    );
    expect(items).toContainEqual(
      expect.objectContaining({ type: "run.ended", error: { code: "refused", message: "It contains a secret." } }),
    );
    expect(texts(session)).toEqual(["Hi"]);
  });

  test("L6: causes a retry if a held response breaks off, and nothing of the response is kept", async () => {
    const { session, events, seen } = await watched();
    const model = scriptedModel([[text("The SECRET"), cut()], "Hello."]);
    const agent = new Agent({ model, guards: noSecrets, retry: { delay: 1 } });
    expect((await agent.send("Hi", { session })).text).toBe("Hello.");
    const last = scriptedModel(() => [text("The SECRET"), cut()]);
    await agent
      .with({ model: last })
      .send("Hi", { session })
      .catch(() => {});
    expect(last.asked).toBe(4);
    expect(JSON.stringify([events, seen])).not.toContain("SECRET");
  });

  test.each([true, false])("L6: no call of a refused response runs, not even early (hold: %s)", async (hold) => {
    let ran = 0;
    const look = defineTool({
      name: "look",
      description: "Looks.",
      input: { type: "object" },
      effects: "none",
      eager: true,
      execute: () => ++ran,
    });
    const model = scriptedModel([[call("look"), pause(20), text("The SECRET is 7.")]]);
    const agent = new Agent({ model, tools: [look], guards: { ...noSecrets, hold } });
    await expect(agent.send("Hi")).rejects.toMatchObject({ code: "refused" });
    expect(ran).toBe(0);
  });

  test.each([true, false])("L6: followers act on the text of the guard alone (hold: %s)", async (hold) => {
    let heard = "";
    const written: string[] = [];
    const listen = defineTool({
      name: "listen",
      description: "Listens.",
      input: { type: "object" },
      effects: "none",
      execute(_, { follow }) {
        follow({
          text(piece) {
            heard += piece;
          },
          restarted() {
            heard = "";
          },
          completed: () => void written.push(heard),
        });
        return "Listening.";
      },
    });
    const model = scriptedModel([[call("listen")], [reasoning("Hm."), text("Card ", "123.")]]);
    const output: Guards["output"] = ({ text }) => (text ? { replace: text.replaceAll("123", "###") } : undefined);
    await new Agent({ model, tools: [listen], guards: { output, hold } }).send("Hi");
    expect(written).toEqual(["Card ###."]);
  });

  test.each([true, false])("L6: a replacement without text leaves no empty part (hold: %s)", async (hold) => {
    const session = Session.inMemory();
    const model = scriptedModel([[text("Hm."), call("act")], "Done."]);
    const output: Guards["output"] = ({ calls }) => (calls.length > 0 ? { replace: "" } : undefined);
    await new Agent({ model, tools: [act], guards: { output, hold } }).send("Hi", { session });
    expect(model.requests[1]?.messages.at(-1)?.parts.map(({ type }) => type)).toEqual(["call"]);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("L6: an interrupt ends the wait for a guard, and nothing of the response is kept", async () => {
    const { session, events } = await watched();
    const stopping = new AbortController();
    const output: Guards["output"] = () => {
      stopping.abort();
      return new Promise(() => {});
    };
    const turn = await new Agent({ model: scriptedModel(["The SECRET is 7."]), guards: { output } }).send("Hi", {
      session,
      signal: stopping.signal,
    });
    expect(turn.reason).toBe("interrupted");
    expect(JSON.stringify(events)).not.toContain("SECRET");
  });

  test("L6: checks sub-agents and the last answer at a limit", async () => {
    const secret = "The SECRET is 7.";
    const session = Session.inMemory();
    const model = scriptedModel([
      [call("launch_agent", { task: "Look.", expected_output: "a fact" })],
      secret,
      "Nothing found.",
    ]);
    const agent = new Agent({ model, tools: [act, launchAgent()], guards: noSecrets });
    expect((await agent.send("Hi", { session })).text).toBe("Nothing found.");
    expect(JSON.stringify(model.requests.at(-1))).toContain("It contains a secret.");
    const limited = agent.with({ model: scriptedModel([[call("act")], secret]), limits: { steps: 1 } });
    await expect(limited.send("Hi")).rejects.toMatchObject({
      code: "refused",
      message: "The turn reached the limit of 1 step, and the final answer was refused: It contains a secret.",
    });
  });

  test("L6: the guards of both agents check an agent by value, first its own", async () => {
    const session = Session.inMemory();
    const output: Guards["output"] = ({ text }) => ({ replace: text.replace("Ada", "Bob") });
    const child = (found: string, guards?: Guards) =>
      new Agent({ name: "child", model: scriptedModel([found]), guards }).asTool({ description: "Looks." });
    const ask = [call("child", { task: "Look." })];
    const answered = async (tool: ReturnType<typeof child>, guards?: Guards) => {
      const model = scriptedModel([ask, "Done."]);
      await new Agent({ model, tools: [tool], guards }).send("Hi", { session });
      return JSON.stringify(model.requests.at(-1)?.messages.at(-1));
    };
    expect(await answered(child("Ada.", { output }), noSecrets)).toContain("Bob.");
    expect(await answered(child("Ada's SECRET.", { output }), noSecrets)).toContain("It contains a secret.");
    expect(await answered(child("The SECRET."), noSecrets)).toContain("It contains a secret.");
    expect(await answered(child("Ada.", { output }))).toContain("Bob.");
  });

  test("L6: an inner guard cannot leave out the outer guard", async () => {
    const output: Guards["output"] = () => ({ replace: "The SECRET.", refuse: undefined }) as never;
    const child = new Agent({ name: "child", model: scriptedModel(["Hm."]), guards: { output } });
    const model = scriptedModel([[call("child", { task: "Look." })], "Done."]);
    await new Agent({ model, tools: [child.asTool({ description: "Looks." })], guards: noSecrets }).send("Hi");
    expect(JSON.stringify(model.requests.at(-1)?.messages.at(-1))).toContain("It contains a secret.");
  });

  test("L6: the guards of both agents check a user's message to an agent by value, the outer guard first", async () => {
    const session = Session.inMemory();
    const gate = Promise.withResolvers<void>();
    const inner = scriptedModel([[until(gate.promise), call("act")], "Found."]);
    const input: Guards["input"] = ({ text }) => ({ replace: text.replace("Ada", "Bob") });
    const child = new Agent({ name: "child", model: inner, tools: [act], guards: { input } });
    const tools = [child.asTool({ description: "Looks." })];
    const parent = new Agent({
      model: scriptedModel([[call("child", { task: "Look." })], "Done."]),
      tools,
      guards: noSecrets,
    });
    const turn = parent.send("Hi", { session });
    await expect.poll(() => inner.asked).toBe(1);
    const run = [...session.state.runs.values()].find(({ agent }) => agent === "child")?.id;
    await session.say("Ask Ada.", { run });
    await session.say("My SECRET is 7.", { run });
    gate.resolve();
    await turn;
    const asked = JSON.stringify(inner.requests.at(-1));
    expect(asked).toContain("Ask Bob.");
    expect(asked).not.toMatch(/Ada|SECRET/);
  });

  test.each<[string, unknown, string]>([
    ["throws", () => Promise.reject(new Error("no network")), "guards.output failed: no network"],
    [
      "returns something else",
      () => true,
      'guards.output must return nothing, { refuse: "reason" } or { replace: "text" }.',
    ],
  ])("L6: a guard that %s refuses", async (_, output, message) => {
    const agent = new Agent({ model: scriptedModel(["Hi."]), guards: { output: output as never } });
    await expect(agent.send("Hi")).rejects.toMatchObject({ code: "refused", message });
  });
});

describe("refusals of options", () => {
  const model = scriptedModel([]);
  test.each<[object, string]>([
    [{ ouput: () => {} }, "guards.ouput is no option of an agent; did you mean guards.output or guards.input?"],
    [{ input: "no" }, "guards.input of an agent must be a function, not a string."],
    [{ hold: 1 }, "guards.hold of an agent must be a boolean, not a number."],
  ])("L6: %j", (guards, sentence) => {
    expect(() => new Agent({ model, guards: guards as never })).toThrow(sentence);
  });

  test("L6: a driver that runs whole turns", async () => {
    const loop: LoopDriver = { id: "other/program", family: "loop", run: async () => {} };
    expect(() => new Agent({ model: loop, guards: noSecrets })).toThrow(
      "other/program runs whole turns itself, so guards.output cannot check its responses.",
    );
    const session = Session.inMemory();
    const parent = scriptedModel([
      [call("launch_agent", { task: "Look.", expected_output: "a fact", model: "other" })],
      "No.",
    ]);
    const tools = [launchAgent({ resolveModel: async () => loop })];
    await new Agent({ model: parent, tools, guards: noSecrets }).send("Hi", { session });
    expect(JSON.stringify(parent.requests.at(-1))).toContain("so guards.output cannot check its responses.");
  });
});

test("L6: an agent without guards holds nothing back", async () => {
  const model = scriptedModel([[text("a"), pause(30), text("b")]]);
  let first: string | undefined;
  for await (const piece of new Agent({ model }).chat(say("Hi")).text) first ??= piece;
  expect(first).toBe("a");
});
