import type { ProviderData } from "@banyan/core/conversation";
import { CallArguments } from "@banyan/core/drivers";
import type { JsonRecord } from "@banyan/core/shown";
import type { Batch } from "../wire/batch.ts";
import { textAt } from "../wire/json.ts";
import { itemOwn, PARALLEL, parallelCalls, type WrittenCall } from "./client-calls.ts";
import type { ResponsesProvider } from "./provider.ts";

interface StreamedCall {
  readonly index: number;
  item: JsonRecord;
  readonly pieces: CallArguments;
}

/** Assembles the calls of one answer. A call is identified by its item. */
export class StreamedCalls {
  readonly #batch: Batch;
  readonly #provider: ResponsesProvider;
  readonly #offered: ReadonlySet<string>;
  readonly #calls = new Map<unknown, StreamedCall>();
  /** Calls of `parallel`, whose arguments contain the real calls. */
  readonly #parallel = new Set<unknown>();
  #count = 0;

  constructor(batch: Batch, provider: ResponsesProvider, offered: ReadonlySet<string>) {
    this.#batch = batch;
    this.#provider = provider;
    this.#offered = offered;
  }

  get any(): boolean {
    return this.#count > 0;
  }

  begin(at: unknown, item: JsonRecord): void {
    const tool = textAt(item, "name");
    if (tool === PARALLEL && !this.#offered.has(PARALLEL)) {
      this.#parallel.add(at);
      return;
    }
    const index = this.#announce(callId(item), tool);
    this.#calls.set(at, { index, item, pieces: new CallArguments() });
  }

  grow(at: unknown, text: string): void {
    const call = this.#calls.get(at);
    const more = call?.pieces.take(text);
    if (call && more) this.#batch.callInput(call.index, more);
  }

  /** Takes whole arguments, which count if neither fragments nor the end of the item have any. */
  fill(at: unknown, text: string): void {
    const call = this.#calls.get(at);
    if (call && text !== "") call.item = { ...call.item, arguments: text };
  }

  /** Ends a call with its whole item. Streamed arguments stay valid, whatever the item says. */
  end(at: unknown, item: JsonRecord): void {
    if (this.#parallel.delete(at)) return this.#endParallel(item);
    const call = this.#calls.get(at);
    if (!call) return;
    this.#calls.delete(at);
    const rest = call.pieces.isEmpty ? textAt(item, "arguments") || textAt(call.item, "arguments") : call.pieces.rest();
    if (rest !== "") this.#batch.callInput(call.index, rest);
    this.#finish(call.index, this.#provider === "xai" ? {} : itemOwn(item));
  }

  /** Ends calls for which the server sent no end. */
  endAll(): void {
    for (const [at, { item }] of [...this.#calls]) this.end(at, item);
  }

  whole({ id, tool, input, own }: WrittenCall): void {
    const index = this.#announce(id, tool);
    this.#batch.callInput(index, input);
    this.#finish(index, own);
  }

  #endParallel(item: JsonRecord): void {
    const call = { id: callId(item), input: textAt(item, "arguments"), itemId: textAt(item, "id") };
    const calls = parallelCalls(call, this.#offered);
    if (calls) for (const one of calls) this.whole(one);
    else this.whole({ ...call, tool: PARALLEL, own: itemOwn(item) });
  }

  #announce(id: string, tool: string): number {
    const index = this.#count++;
    this.#batch.add({ type: "call", index, id, tool });
    return index;
  }

  #finish(index: number, own: ProviderData[string]): void {
    const end = { type: "call-end", index } as const;
    this.#batch.add(Object.keys(own).length > 0 ? { ...end, provider: { [this.#provider]: own } } : end);
  }
}

function callId(item: JsonRecord): string {
  return textAt(item, "call_id") || textAt(item, "id");
}
