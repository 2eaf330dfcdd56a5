import { noUsage } from "../../conversation/usage.ts";
import { defineTool } from "../../ports/define-tool.ts";
import { type ModelDriver, ModelError, type ModelSink } from "../../ports/model.ts";
import { Agent } from "../agent.ts";

/** One action of a model or a tool. */
export type Move =
  | { readonly type: "words"; readonly text: string }
  | { readonly type: "answer"; readonly text: string }
  | { readonly type: "call"; readonly calls: number; readonly asks: boolean }
  | { readonly type: "fail" }
  | { readonly type: "done" };

/** An agent whose model and tools act only on command, one move at a time. */
export class Puppet {
  readonly agent: Agent;
  readonly #moves: Move[] = [];
  #wake = Promise.withResolvers<void>();

  constructor() {
    const model: ModelDriver = {
      id: "puppet/model",
      family: "puppet",
      price: { input: 1, output: 2 },
      stream: (_, sink, signal) => this.#stream(sink, signal),
    };
    const tool = (name: string) =>
      defineTool({
        name,
        description: name,
        input: { type: "object" },
        effects: "external",
        execute: async (_, { signal, progress }) => {
          progress("working");
          await this.#next(signal);
          return "done";
        },
      });
    this.agent = new Agent({
      model,
      tools: [tool("work"), tool("ask")],
      permission: ({ tool }) => ({ decision: tool.name === "ask" ? "ask" : "allow" }),
    });
  }

  move(move: Move): void {
    this.#moves.push(move);
    this.#wake.resolve();
  }

  async #stream(sink: ModelSink, signal: AbortSignal): Promise<void> {
    for (;;) {
      const move = await this.#next(signal);
      const usage = { ...noUsage, input: 3, output: 1 };
      if (move.type === "fail") throw new ModelError("quota", "The puppet has nothing left to say.");
      if ("text" in move) sink.push([{ type: "text", text: move.text }]);
      if (move.type === "answer") return void sink.push([{ type: "finish", reason: "stop", usage }]);
      if (move.type !== "call") continue;
      for (let index = 0; index < move.calls; index++) {
        const tool = move.asks && index === 0 ? "ask" : "work";
        sink.push([
          { type: "call", index, id: "", tool },
          { type: "call-end", index },
        ]);
      }
      return void sink.push([{ type: "finish", reason: "calls", usage }]);
    }
  }

  async #next(signal: AbortSignal): Promise<Move> {
    const aborted = Promise.withResolvers<never>();
    const abort = () => aborted.reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    try {
      for (;;) {
        const move = this.#moves.shift();
        if (move) return move;
        this.#wake = Promise.withResolvers();
        await Promise.race([this.#wake.promise, aborted.promise]);
      }
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }
}
