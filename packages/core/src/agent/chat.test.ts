import { describe, expect, test } from "vitest";
import { type FeedItem, textOf } from "../index.ts";
import { defineTool } from "../ports/define-tool.ts";
import { Session } from "../session/session.ts";
import { call, collect, fail, pause, readUntil, reasoning, scriptedModel, stall, text } from "../testing/index.ts";
import { Agent, type AgentBuilder, type AgentOptions } from "./agent.ts";
import { resume, retry, say, stop } from "./directive.ts";
import { TurnError } from "./turn-error.ts";

const look = defineTool({
  name: "look",
  description: "Looks.",
  input: { type: "object", properties: { at: { type: "string" } } },
  effects: "none",
  execute: () => "seen",
});

describe("a turn as a promise", () => {
  test("B1: send answers with the text of one turn", async () => {
    const model = scriptedModel(["Hello."]);
    const turn = await new Agent({ model }).send("Hi");
    expect(turn).toMatchObject({ text: "Hello.", reason: "answered", steps: 1 });
    expect(model.asked).toBe(1);
  });

  test("a model that answers with a call, another call, then text is asked exactly three times", async () => {
    const model = scriptedModel([[call("look", { at: "a" })], [call("look", { at: "b" })], "Both seen."]);
    const turn = await new Agent({ model, tools: [look] }).send("Look twice");
    expect(turn.text).toBe("Both seen.");
    expect(model.asked).toBe(3);
    expect(turn.usage).toMatchObject({ input: 3, output: 3 });
  });

  test("send rejects when the model cannot answer, and the error holds the turn", async () => {
    const agent = new Agent({ model: scriptedModel([[text("Half"), fail("authentication")]]) });
    const error = await agent.send("Hi").catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(TurnError);
    expect(error).toMatchObject({ code: "authentication", turn: { reason: "failed", text: "Half" } });
  });

  test("an abort of send's signal interrupts the turn and keeps the partial answer", async () => {
    const abort = new AbortController();
    const agent = new Agent({ model: scriptedModel([[text("So far"), stall()]]) });
    const session = Session.inMemory();
    const turn = agent.send("Hi", { session, signal: abort.signal });
    await readUntil(session.feed(), (item) => item.type === "text.delta");
    abort.abort();
    expect(await turn).toMatchObject({ reason: "interrupted", text: "So far" });
  });

  test("send does not ask the turn handler", async () => {
    let asked = 0;
    const agent = new Agent({ model: scriptedModel(["Hello."]), onTurn: () => void asked++ });
    await agent.send("Hi");
    expect(asked).toBe(0);
  });
});

describe("a conversation as one stream", () => {
  test("B1: the first token reaches the consumer before the answer ends", async () => {
    const feed = new Agent({ model: scriptedModel([[text("First"), stall()]]) })
      .chat(say("Hi"))
      [Symbol.asyncIterator]();
    const first = await readUntil(feed, (item) => item.type === "text.delta");
    expect(first).toMatchObject({ text: "First" });
    await feed.return?.();
  });

  test("B1: the feed shows text, reasoning, the life of each call, usage, and the ends of turn and chat, in order", async () => {
    const model = scriptedModel([[reasoning("Hm."), text("Looking."), call("look")], "Done."]);
    const items = await collect(new Agent({ model, tools: [look] }).chat(say("Hi")));
    expect(items.map(({ type }) => type)).toEqual([
      "conversation.created",
      "content.stored",
      "content.stored",
      "message.added",
      "run.started",
      "message.started",
      "reasoning.delta",
      "text.delta",
      "call.input.delta",
      "call.input.delta",
      "message.completed",
      "call.pending",
      "call.executing",
      "call.completed",
      "message.started",
      "text.delta",
      "message.completed",
      "run.ended",
      "chat.ended",
    ]);
    expect(items.at(-1)).toEqual({ type: "chat.ended", reason: "answered" });
  });

  test("B2, B12: the handler's answer continues the same stream, and the handler gets the whole conversation", async () => {
    const lines = ["two", "three"];
    const seen: string[][] = [];
    const agent = new Agent({
      model: scriptedModel(["1", "2", "3"]),
      onTurn: (conversation, self) => {
        seen.push(conversation.path.map(textOf));
        const line = lines.shift();
        return line === undefined ? undefined : self.chat(say(line));
      },
    });
    const items = await collect(agent.chat(say("one")));
    expect(seen.at(-1)).toEqual(["one", "1", "two", "2", "three", "3"]);
    expect(items.filter(({ type }) => type === "run.ended")).toHaveLength(3);
    expect(items.at(-1)).toEqual({ type: "chat.ended", reason: "stop" });
  });

  test("B2: a handler may wait, and may hand over to another agent in the same conversation", async () => {
    const poet = new Agent({ name: "poet", model: scriptedModel(["A rose."], { id: "scripted/poet" }) });
    const clerk = new Agent({
      name: "clerk",
      model: scriptedModel(["Take the poet."]),
      onTurn: async () => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        return poet.chat(say("A line, please."));
      },
    });
    const chat = clerk.chat(say("A poem?"));
    const items = await collect(chat);
    const answers = items.flatMap((item) => (item.type === "message.started" ? [item.model] : []));
    expect(answers).toEqual(["scripted/model", "scripted/poet"]);
    expect(chat.session.state.messages.size).toBe(4);
  });

  test("B3: stop ends the stream with a final item", async () => {
    const model = scriptedModel(["1"]);
    const agent = new Agent({ model, onTurn: (_, self) => self.chat(stop()) });
    expect((await collect(agent.chat(say("one")))).at(-1)).toEqual({ type: "chat.ended", reason: "stop" });
    expect(model.asked).toBe(1);
  });

  test("B3: an empty message is refused, and no model is called", () => {
    expect(() => say("  \n")).toThrow(/empty/);
    expect(() => say([])).toThrow(/empty/);
    expect(() => retry("")).toThrow(/empty/);
  });

  test("B3: retry adds a sibling of the last answer; with a text, one of the last user message", async () => {
    const session = Session.inMemory();
    const agent = new Agent({ model: scriptedModel(["first", "second", "third"]) });
    await collect(agent.chat(say("question"), { session }));
    await collect(agent.chat(retry(), { session }));
    const [question] = session.state.children.get(null) ?? [];
    expect(session.state.children.get(question ?? "")).toHaveLength(2);
    await collect(agent.chat(retry("better question"), { session }));
    expect(session.state.children.get(null)).toHaveLength(2);
    const texts = [...session.state.messages.values()].map(textOf);
    expect(texts).toEqual(["question", "first", "second", "better question", "third"]);
  });

  test("B3: resume continues an interrupted answer without a new message", async () => {
    const session = Session.inMemory();
    const model = scriptedModel([[text("Half a "), stall()], "sentence."]);
    const agent = new Agent({ model });
    const feed = agent.chat(say("Speak"), { session })[Symbol.asyncIterator]();
    await readUntil(feed, (item) => item.type === "text.delta");
    session.interrupt();
    await readUntil(feed, (item) => item.type === "chat.ended");
    await collect(agent.chat(resume(), { session }));
    expect([...session.state.messages.values()].map(textOf)).toEqual(["Speak", "Half a ", "sentence."]);
    expect(model.requests[1]?.messages.at(-1)?.role).toBe("user");
  });

  test("B3: the errors of retry and resume in an empty conversation name the missing message", async () => {
    const agent = new Agent({ model: scriptedModel([]) });
    await expect(collect(agent.chat(retry()))).rejects.toThrow(/nothing to retry/);
    await expect(collect(agent.chat(resume()))).rejects.toThrow(/nothing to resume/);
    const done = new Agent({ model: scriptedModel(["Done."]) });
    const session = Session.inMemory();
    await done.send("Hi", { session });
    await expect(collect(done.chat(resume(), { session }))).rejects.toThrow(/last answer is complete/);
  });

  test("B43: going on again and again adds instructions neither to the log nor twice to a request", async () => {
    const session = Session.inMemory();
    const model = scriptedModel([[fail("authentication")], [fail("authentication")], "Hello."]);
    const agent = new Agent({ model, instructions: "Be a guide." });
    await collect(agent.chat(say("Hi"), { session }));
    for (const _ of [1, 2]) await collect(agent.chat(resume(), { session }));
    expect(model.requests.map(({ instructions }) => instructions)).toEqual(Array(3).fill("Be a guide."));
    expect(JSON.stringify(model.requests.map(({ messages }) => messages))).not.toContain("Be a guide.");
    expect(JSON.stringify([...session.state.messages.values()])).not.toContain("Be a guide.");
  });

  test("a chat can start at any message, which makes a branch; an unknown one is refused", async () => {
    const session = Session.inMemory();
    const agent = new Agent({ model: scriptedModel(["a", "b", "c"]) });
    await agent.send("one", { session });
    const at = session.state.leaf as string;
    await agent.send("two", { session });
    await agent.send("other two", { session, at });
    expect(session.state.children.get(at)).toHaveLength(2);
    await expect(agent.send("x", { session, at: "nowhere" })).rejects.toThrow(/no message nowhere/);
  });

  test("B4: settings, tools and limits are the same on every turn", async () => {
    let turns = 0;
    const model = scriptedModel(() => "ok");
    const agent = new Agent({
      model,
      tools: [look],
      settings: { temperature: 0.3, maxTokens: 7 },
      onTurn: (_, self) => (++turns < 40 ? self.chat(say("more")) : undefined),
    });
    await collect(agent.chat(say("go")));
    expect(model.requests).toHaveLength(40);
    for (const { settings, tools } of model.requests) {
      expect(settings).toEqual({ temperature: 0.3, maxTokens: 7 });
      expect(tools).toBe(model.requests[0]?.tools);
    }
  });

  test("B7: leaving the stream early interrupts the run, and leaves nothing open", async () => {
    let aborted = false;
    const waiting = defineTool({
      name: "wait",
      description: "Waits.",
      input: { type: "object" },
      effects: "external",
      execute: (_, { signal }) =>
        new Promise((resolve) =>
          signal.addEventListener("abort", () => {
            aborted = true;
            resolve("stopped");
          }),
        ),
    });
    const chat = new Agent({ model: scriptedModel([[call("wait")]]), tools: [waiting] }).chat(say("Wait"));
    for await (const item of chat) if (item.type === "call.executing") break;
    expect(aborted).toBe(true);
    expect(chat.session.state.runs.size).toBe(0);
    const answer = [...chat.session.state.messages.values()].at(-1);
    expect(answer).toMatchObject({ calls: [{ status: "cancelled" }] });
  });

  test("B7: an unread stream makes the model wait", async () => {
    const piece = "x".repeat(1024);
    let pushed = 0;
    const model = scriptedModel(() =>
      Array.from({ length: 2_000 }, () => text(piece)).map((beat) => {
        return {
          ...beat,
          get parts() {
            pushed++;
            return [{ type: "text" as const, text: piece }];
          },
        };
      }),
    );
    const chat = new Agent({ model }).chat(say("Flood"));
    const feed = chat[Symbol.asyncIterator]();
    await feed.next();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(pushed).toBeLessThan(600);
    let read = 0;
    for await (const item of { [Symbol.asyncIterator]: () => feed })
      if (item.type === "text.delta") read += item.text.length;
    expect(read).toBe(2_000 * 1024);
  });

  test("B9: a provider error ends the turn with the partial answer, and the handler gets the turn", async () => {
    const told: (string | undefined)[] = [];
    const agent = new Agent({
      model: scriptedModel([[text("Half"), fail("quota")], "Whole."]),
      onTurn: (_, self, turn) => {
        told.push(turn.reason, turn.error?.code);
        return turn.reason === "failed" ? self.chat(say("Again")) : undefined;
      },
    });
    const chat = agent.chat(say("Hi"));
    await collect(chat);
    expect(told).toEqual(["failed", "quota", "answered", undefined]);
    const messages = [...chat.session.state.messages.values()];
    expect(messages.map(textOf)).toEqual(["Hi", "Half", "Again", "Whole."]);
    expect(messages[1]).toMatchObject({ finish: "error", error: "scripted: quota" });
  });

  test("B10: an interrupt in the tenth round takes effect in that round", async () => {
    const session = Session.inMemory();
    const model = scriptedModel((_, index) => (index === 9 ? [text("tenth"), stall()] : [call("look")]));
    const feed = new Agent({ model, tools: [look] }).chat(say("Go"), { session })[Symbol.asyncIterator]();
    await readUntil(feed, (item) => item.type === "text.delta");
    session.interrupt();
    const rest: FeedItem[] = [];
    for await (const item of { [Symbol.asyncIterator]: () => feed }) rest.push(item);
    expect(rest.at(-1)).toEqual({ type: "chat.ended", reason: "interrupted" });
    expect(model.asked).toBe(10);
  });

  test("B11: two chats on one branch take turns", async () => {
    const session = Session.inMemory();
    const agent = new Agent({ model: scriptedModel((request) => [pause(5), text(`${request.messages.length}`)]) });
    await Promise.all([
      agent.send("one", { session }),
      agent.send("two", { session }),
      agent.send("three", { session }),
    ]);
    const path = [...session.state.messages.values()];
    expect(path.map(textOf)).toEqual(["one", "1", "two", "3", "three", "5"]);
  });

  test("a chat is iterated once", async () => {
    const chat = new Agent({ model: scriptedModel(["a"]) }).chat(say("Hi"));
    await collect(chat);
    expect(() => chat[Symbol.asyncIterator]()).toThrow(/already iterated/);
  });

  test("the consumer gets the error of a turn handler, after the turn was stored", async () => {
    const agent = new Agent({
      model: scriptedModel(["kept"]),
      onTurn: () => {
        throw new Error("handler broke");
      },
    });
    const chat = agent.chat(say("Hi"));
    await expect(collect(chat)).rejects.toThrow("handler broke");
    expect([...chat.session.state.messages.values()].map(textOf)).toEqual(["Hi", "kept"]);
  });
});

describe("the handle", () => {
  test("B5: an agent never changes; with() gives a changed one", () => {
    const agent = new Agent({ name: "a", model: scriptedModel([]) });
    const other = agent.with({ name: "b" });
    expect([agent.name, other.name]).toEqual(["a", "b"]);
    expect(other.options.model).toBe(agent.options.model);
    expect(Object.isFrozen(agent)).toBe(true);
  });

  test("B5: the builder has a setter for each option", () => {
    // The compiler checks this: an option without a setter makes the type "some".
    const missing: Exclude<keyof AgentOptions, keyof AgentBuilder> extends never ? "none" : "some" = "none";
    expect(missing).toBe("none");
  });

  test("B5: the builder gives the same options, and each setter shows in the request", async () => {
    const model = scriptedModel(["ok"]);
    const agent = Agent.builder()
      .name("built")
      .model(model)
      .instructions("Be short.")
      .tools(look)
      .settings({ temperature: 0.5 })
      .settings({ maxTokens: 9, stop: ["END"], effort: "low", providerOptions: { scripted: { a: 1 } } })
      .limits({ steps: 3 })
      .build();
    await agent.send("Hi");
    expect(model.requests[0]).toMatchObject({
      instructions: "Be short.",
      tools: [{ name: "look" }],
      settings: {
        temperature: 0.5,
        maxTokens: 9,
        stop: ["END"],
        effort: "low",
        providerOptions: { scripted: { a: 1 } },
      },
    });
    expect(agent.options).toMatchObject({ name: "built", limits: { steps: 3 } });
    expect(() => Agent.builder().build()).toThrow(/needs a model/);
  });

  test("options that no turn can have are refused before a model is called", async () => {
    const model = scriptedModel(["never"]);
    await expect(new Agent({ model, settings: { temperature: 9 } }).send("x")).rejects.toThrow(/temperature is 9/);
    await expect(new Agent({ model, settings: { maxTokens: 0 } }).send("x")).rejects.toThrow(/maxTokens is 0/);
    await expect(new Agent({ model, limits: { steps: 1.5 } }).send("x")).rejects.toThrow(/limits.steps is 1.5/);
    expect(() => new Agent({ model, tools: [look, look] })).toThrow(/name "look"/);
    expect(model.asked).toBe(0);
  });

  test("B57: callbacks mirror the feed, and a failing callback harms nothing", async () => {
    const told: string[] = [];
    const agent = new Agent({
      model: scriptedModel([[call("look")], "Done."]),
      tools: [look],
      callbacks: {
        onMessage: ({ id }) => void told.push(`message ${id.length > 0}`),
        onCalls: (calls) => void told.push(`calls ${calls.map(({ tool, status }) => `${tool} ${status}`)}`),
        onCall: ({ tool, output }) => void told.push(`call ${tool} ${output}`),
        onAnswer: (message) => {
          told.push(`answer ${textOf(message)}`);
          throw new Error("callback broke");
        },
      },
    });
    const items = await collect(agent.chat(say("Hi")));
    expect(told).toEqual(["message true", "calls look pending", "call look seen", "message true", "answer Done."]);
    expect(items).toContainEqual({ type: "callback.failed", callback: "onAnswer", reason: "callback broke" });
    expect(items.at(-1)).toEqual({ type: "chat.ended", reason: "answered" });
  });
});
