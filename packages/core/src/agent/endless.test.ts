import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { noUsage } from "../conversation/usage.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { ModelDriver } from "../ports/model.ts";
import { Session } from "../session/session.ts";
import { call, scriptedModel } from "../testing/index.ts";
import { Agent } from "./agent.ts";
import { say } from "./directive.ts";

const WINDOW = 20;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Bytes of live objects. */
function heap(): number {
  collectGarbage();
  return getHeapStatistics().used_heap_size;
}

/** Number of functions on the caller's stack, including async ones. */
function stackDepth(): number {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = Number.POSITIVE_INFINITY;
  const depth = new Error("only its stack is wanted").stack?.split("\n").length ?? 0;
  Error.stackTraceLimit = limit;
  return depth;
}

/** Takes turns, each begun by the handler of the last one, and inspects some of them. */
async function takeTurns(
  last: number,
  agent: Agent,
  session: Session,
  looks: Readonly<Record<number, () => void>> = {},
): Promise<void> {
  let taken = 0;
  const endless = agent.with({
    onTurn: (_, self) => {
      taken++;
      looks[taken]?.();
      return taken < last ? self.chat(say("And then?")) : undefined;
    },
  });
  for await (const _ of endless.chat(say("Tell me a story without end."), { session }));
  expect(taken).toBe(last);
}

/** A model with one answer. The scripted model keeps the last requests with all their messages. */
function briefModel(): ModelDriver {
  return {
    id: "brief/model",
    family: "brief",
    async stream(_, sink) {
      sink.push([
        { type: "text", text: "Go on." },
        { type: "finish", reason: "stop", usage: noUsage },
      ]);
    },
  };
}

describe("a conversation without end", () => {
  test("B8: 20,000 turns with a window of 20 messages leave heap and stack as they were", async () => {
    const session = Session.inMemory({ window: WINDOW });
    const seen: { heap: number; stack: number }[] = [];
    const look = () => seen.push({ stack: stackDepth(), heap: heap() });
    await takeTurns(20_000, new Agent({ model: scriptedModel(() => "Go on.") }), session, { 4000: look, 20000: look });
    const [early, late] = seen;
    expect(late!.stack).toBe(early!.stack);
    // 32 bytes a turn, less than any object that a turn could leak.
    expect(late!.heap - early!.heap).toBeLessThan(16_000 * 32);
    expect(session.state.messages.size).toBeLessThanOrEqual(WINDOW);
    expect(session.state.children.size).toBeLessThanOrEqual(WINDOW);
  });

  test("B8: the model gets the messages of the window and the new ones", async () => {
    const model = scriptedModel((_, index) => `Part ${index + 1}`);
    await takeTurns(30, new Agent({ model }), Session.inMemory({ window: 4 }));
    const shown = model.requests.at(-1)!.messages.map(({ parts: [part] }) => part?.type === "text" && part.text);
    expect(shown).toEqual(["And then?", "Part 28", "And then?", "Part 29", "And then?"]);
  });

  test("B8: the session forgets turns that are longer than the window", async () => {
    const look = defineTool({
      name: "look",
      description: "Looks.",
      input: { type: "object" },
      effects: "none",
      execute: () => "seen",
    });
    const model = scriptedModel((_, index) => (index % 6 < 5 ? [call("look")] : "Go on."));
    const session = Session.inMemory({ window: 4 });
    await takeTurns(50, new Agent({ model, tools: [look] }), session);
    // The last turn: a user message, and six answers with five calls.
    expect(session.state.messages.size).toBe(7);
    expect(session.state.calls.size).toBe(5);
  });

  test("V12: a stored turn with two short messages takes at most 1,250 bytes", async () => {
    const session = Session.inMemory();
    const agent = new Agent({ model: briefModel() });
    const seen: number[] = [];
    for (let turn = 1; turn <= 4000; turn++) {
      await agent.send([{ type: "text", text: "And then?" }], { session });
      if (turn % 2000 === 0) seen.push(heap());
    }
    const [first, second] = seen as [number, number];
    expect((second - first) / 2000).toBeLessThan(1250);
  });

  test("B8: 10,000 turns that are kept take the heap of their messages and no more", async () => {
    const session = Session.inMemory();
    const seen: number[] = [];
    const look = () => seen.push(heap());
    await takeTurns(10_000, new Agent({ model: briefModel() }), session, { 2500: look, 5000: look, 10000: look });
    const [first, second, third] = seen as [number, number, number];
    const early = (second - first) / 2500;
    const late = (third - second) / 5000;
    const before = heap();
    const copy = structuredClone(session.state.messages);
    const messages = (heap() - before) / 10_000;
    expect(copy.size).toBe(20_000);
    expect(late / early).toBeLessThan(1.5);
    expect(late).toBeLessThan(messages * 2);
  });
});
