import { describe, expect, test, vi } from "vitest";
import { defineTool } from "../ports/define-tool.ts";
import { Interruption } from "../session/error.ts";
import { Session } from "../session/session.ts";
import { checkConversation } from "../testing/check-conversation.ts";
import { collect } from "../testing/collect.ts";
import { call, fail, scriptedModel, text } from "../testing/scripted-model.ts";
import { Agent } from "./agent.ts";
import type { Chat } from "./chat.ts";
import { launchAgent } from "./control/launch-agent.ts";
import { say, stop } from "./directive.ts";
import { TurnError } from "./turn-error.ts";

const act = defineTool({
  name: "act",
  description: "Acts.",
  input: { type: "object" },
  effects: "none",
  execute: () => "done",
});

const hang = defineTool({
  name: "hang",
  description: "Ends only with its signal.",
  input: { type: "object" },
  effects: "none",
  execute: (_, { signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve("gone"))),
});

async function texts(chat: Chat): Promise<string> {
  let whole = "";
  for await (const piece of chat.text) whole += piece;
  return whole;
}

describe("the first turn of a chat", () => {
  test("L4: awaited alone, runs the whole chat without a reader", async () => {
    const session = Session.inMemory();
    const agent = new Agent({
      model: scriptedModel(["Green.", "Because of chlorophyll."]),
      onTurn: (_, agent, turn) => (turn.text === "Green." ? agent.chat(say("Why?")) : undefined),
    });
    const turn = await agent.chat(say("What colour are leaves?"), { session }).turn;
    expect(turn).toMatchObject({ reason: "answered", text: "Green.", steps: 1 });
    expect(turn.usage.output).toBeGreaterThan(0);
    await vi.waitFor(() => expect(session.state.messages.size).toBe(4));
  });

  test("L4: is the same turn before, during and after the stream is read", async () => {
    const chat = new Agent({ model: scriptedModel([[call("act")], "Done."]), tools: [act] }).chat(say("Go"));
    const before = chat.turn;
    const [items, during] = await Promise.all([collect(chat), chat.turn]);
    expect(items.at(-1)).toMatchObject({ type: "chat.ended", reason: "answered" });
    expect(during).toMatchObject({ text: "Done.", steps: 2 });
    expect(await before).toBe(during);
    expect(await chat.turn).toBe(during);
  });

  test("L4: that fails rejects with the partial turn, and the stream ends as without it", async () => {
    const model = scriptedModel([[text("Gre"), fail("authentication")]]);
    const chat = new Agent({ model }).chat(say("Go"));
    const items = await collect(chat);
    expect(items.at(-1)).toMatchObject({ type: "chat.ended", reason: "failed" });
    const error = await chat.turn.catch((error: unknown) => error);
    expect(error).toBeInstanceOf(TurnError);
    expect(error).toMatchObject({ code: "authentication", turn: { reason: "failed", text: "Gre" } });
  });

  test("L4: of a chat that a turn handler returns is the turn of that chat", async () => {
    let second: Chat | undefined;
    const agent = new Agent({
      model: scriptedModel(["one", "two"]),
      onTurn(_, agent, turn) {
        if (turn.text !== "one") return undefined;
        second = agent.chat(say("More"));
        return second;
      },
    });
    const chat = agent.chat(say("Go"));
    await collect(chat);
    expect((await chat.turn).text).toBe("one");
    expect((await second?.turn)?.text).toBe("two");
  });

  test("L4: is refused where there is none: a chat that stops, and a session that is closed", async () => {
    const agent = new Agent({ model: scriptedModel(["never"]) });
    await expect(agent.chat(stop()).turn).rejects.toThrow(Interruption);
    const session = Session.inMemory();
    await session.close();
    await expect(agent.chat(say("Go"), { session }).turn).rejects.toMatchObject({ code: "closed" });
  });

  test("L4: a failed turn without await causes no unhandled rejection", async () => {
    const unhandled: unknown[] = [];
    const listen = (error: unknown) => unhandled.push(error);
    process.on("unhandledRejection", listen);
    const failing = () => new Agent({ model: scriptedModel([[fail("authentication")]]) });
    const turns = [failing().chat(say("Go")).turn];
    const read = failing().chat(say("Go"));
    turns.push(read.turn);
    await collect(read);
    expect(turns).toHaveLength(2);
    const thrown = failing().with({ onTurn: () => Promise.reject(new Error("handler")) });
    const unread = thrown.chat(say("Go"));
    const notices: unknown[] = [];
    const stopListening = unread.session.listen({ items: (items) => notices.push(...items), ended() {} });
    await unread.turn.catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 20));
    stopListening();
    process.off("unhandledRejection", listen);
    expect(unhandled).toEqual([]);
    // The error of a handler without a reader reaches those who watch the session.
    expect(notices).toContainEqual({ type: "callback.failed", callback: "onTurn", reason: "handler" });
  });

  test("L4: a chat that `turn` runs cannot be read or returned any more, and the error names the remedy", async () => {
    const agent = new Agent({ model: scriptedModel(["one", "two", "three"]) });
    const chat = agent.chat(say("Go"));
    await chat.turn;
    expect(() => chat.text).toThrow("iterate or return the chat before you await chat.turn");
    const returned = agent.with({ onTurn: () => chat }).chat(say("Go"));
    await expect(collect(returned)).rejects.toThrow("iterate or return the chat before you await chat.turn");
  });
});

describe("the text of a chat", () => {
  test("L4: is that of the agent's own responses, as they are written", async () => {
    const model = scriptedModel((request) => {
      if (request.instructions.includes("finish_task")) return [text("below"), call("finish_task", { result: "12" })];
      return request.messages.length === 1
        ? [text("Let me"), text(" look."), call("launch_agent", { task: "Count." })]
        : "12.";
    });
    const chat = new Agent({ model, tools: [launchAgent()] }).chat(say("How many?"));
    expect(await texts(chat)).toBe("Let me look.\n\n12.");
    expect((await chat.turn).text).toBe("12.");
  });

  test("L4: throws at the end if the last turn failed", async () => {
    const agent = new Agent({ model: scriptedModel([[text("Gre"), fail("authentication")]]) });
    const pieces: string[] = [];
    const reading = (async () => {
      for await (const piece of agent.chat(say("Go")).text) pieces.push(piece);
    })();
    await expect(reading).rejects.toMatchObject({ name: "TurnError", code: "authentication" });
    expect(pieces.join("")).toBe("Gre");
  });

  test("L4: left early interrupts the turn", async () => {
    const session = Session.inMemory();
    const agent = new Agent({ model: scriptedModel([[text("one"), call("hang")], "two"]), tools: [hang] });
    const chat = agent.chat(say("Go"), { session });
    for await (const piece of chat.text) if (piece.includes("one")) break;
    expect(await chat.turn).toMatchObject({ reason: "interrupted", text: "one" });
    expect(checkConversation(session.state)).toEqual([]);
  });
});

describe("the signal of a chat", () => {
  test("L4: interrupts the turn, ends the stream, and the turn has the partial result", async () => {
    const controller = new AbortController();
    const agent = new Agent({ model: scriptedModel([[text("one"), call("hang")], "two"]), tools: [hang] });
    const chat = agent.chat(say("Go"), { signal: controller.signal });
    let last: unknown;
    for await (const item of chat) {
      if (item.type === "call.executing") controller.abort();
      last = item;
    }
    expect(last).toMatchObject({ type: "chat.ended", reason: "interrupted" });
    expect(await chat.turn).toMatchObject({ reason: "interrupted", text: "one" });
  });

  test("L4: ends a chat whose handler waits", async () => {
    const controller = new AbortController();
    const agent = new Agent({ model: scriptedModel(["one"]), onTurn: () => new Promise<undefined>(() => {}) });
    const chat = agent.chat(say("Go"), { signal: controller.signal });
    const items = collect(chat);
    await chat.turn;
    controller.abort();
    expect((await items).at(-1)).toMatchObject({ type: "chat.ended", reason: "answered" });
  });

  test("L4: of a chat that a handler returns applies from then on, and that of the first chat stays", async () => {
    for (const which of [0, 1]) {
      const signals = [new AbortController(), new AbortController()];
      const agent = new Agent({
        model: scriptedModel(["one", [call("hang")], "two"]),
        tools: [hang],
        onTurn: (_, agent, turn) =>
          turn.text === "one" ? agent.chat(say("More"), { signal: signals[1]?.signal }) : undefined,
      });
      const ends: unknown[] = [];
      for await (const item of agent.chat(say("Go"), { signal: signals[0]?.signal })) {
        if (item.type === "call.executing") signals[which]?.abort();
        if (item.type === "run.ended") ends.push(item.reason);
      }
      expect(ends).toEqual(["answered", "interrupted"]);
    }
  });

  test("L4: aborted before: nothing is written", async () => {
    const session = Session.inMemory();
    const model = scriptedModel(["never"]);
    const chat = new Agent({ model }).chat(say("Go"), { session, signal: AbortSignal.abort() });
    await expect(chat.turn).rejects.toThrow(Interruption);
    expect(session.state.messages.size).toBe(0);
    expect(model.asked).toBe(0);
  });

  test("L4: a controller in its place is refused", () => {
    const agent = new Agent({ model: scriptedModel([]) });
    const signal = new AbortController() as unknown as AbortSignal;
    expect(() => agent.chat(say("Go"), { signal })).toThrow("Pass controller.signal, not the controller");
  });
});
