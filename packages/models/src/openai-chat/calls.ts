import type { Json } from "@banyan/core";
import type { ProviderData } from "@banyan/core/conversation";
import type { Batch } from "../wire/batch.ts";
import { isRecord, textAt } from "../wire/json.ts";
import { kept } from "./messages.ts";

interface OpenCall {
  /** Its number in the answer, as the parts name it. */
  readonly index: number;
  readonly id: string;
  readonly tool: string;
  input: string;
  ended: boolean;
  /** What the provider wants to see again with it. */
  extra: Json | undefined;
}

/**
 * Puts tool calls together from their pieces.
 *
 * The format names a call by `index` and tells id and name in its first piece. Servers differ: no index, the same index
 * for every call, ids and names repeated or empty, whole calls in one piece, arguments as an object. A piece goes to
 * the call that it can belong to; it begins a new one when it names a tool and no open call fits.
 */
export class CallAssembly {
  readonly #batch: Batch;
  readonly #provider: string;
  readonly #calls: OpenCall[] = [];
  /** The newest call of each index that the server gave. */
  readonly #byIndex = new Map<number, OpenCall>();
  /** Pieces that came before the name of their tool, by index. */
  readonly #early = new Map<number, { id: string; input: string }>();

  /** @param provider Under whose name is kept what only it understands. */
  constructor(batch: Batch, provider: string) {
    this.#batch = batch;
    this.#provider = provider;
  }

  /** Whether the model has called anything. */
  get any(): boolean {
    return this.#calls.length > 0;
  }

  /** One element of `tool_calls`, or the older `function_call` as `{ function }`. */
  add(piece: Readonly<Record<string, unknown>>): void {
    const fn = isRecord(piece.function) ? piece.function : {};
    const id = textAt(piece, "id");
    const tool = textAt(fn, "name");
    const index = typeof piece.index === "number" ? piece.index : undefined;
    const input = inputText(fn.arguments);

    let call = this.#find(index, id, tool, input);
    if (!call) {
      const early = index === undefined ? undefined : this.#early.get(index);
      if (tool === "") {
        if (index !== undefined)
          this.#early.set(index, { id: id || (early?.id ?? ""), input: (early?.input ?? "") + input });
        return;
      }
      call = this.#begin(index, id || (early?.id ?? ""), tool);
      if (index !== undefined) this.#early.delete(index);
      if (early) this.#grow(call, early.input);
    }
    if (piece[kept.call] !== undefined) call.extra = piece[kept.call] as Json;
    this.#grow(call, input);
  }

  /** No more pieces: ends every call, the last of them with what the provider wants to see again of the answer. */
  end(data?: ProviderData[string]): void {
    const last = this.#calls.at(-1);
    for (const call of this.#calls) this.#end(call, call === last ? data : undefined);
  }

  #find(index: number | undefined, id: string, tool: string, input: string): OpenCall | undefined {
    const last = this.#calls.at(-1);
    if (index !== undefined) {
      const call = this.#byIndex.get(index);
      return call && tool !== "" && isAnother(call, id, input) ? undefined : call;
    }
    if (id !== "") return this.#calls.findLast((call) => call.id === id) ?? (tool === "" ? last : undefined);
    if (tool === "") return last;
    return last?.tool === tool && !isWhole(last.input) ? last : undefined;
  }

  #begin(index: number | undefined, id: string, tool: string): OpenCall {
    // A call whose arguments are whole cannot grow any more, so its end need not wait for the end of the answer.
    for (const call of this.#calls) if (!call.ended && isWhole(call.input)) this.#end(call);
    const call: OpenCall = { index: this.#calls.length, id, tool, input: "", ended: false, extra: undefined };
    this.#calls.push(call);
    if (index !== undefined) this.#byIndex.set(index, call);
    this.#batch.add({ type: "call", index: call.index, id, tool });
    return call;
  }

  #grow(call: OpenCall, input: string): void {
    if (input === "" || call.ended) return;
    call.input += input;
    this.#batch.callInput(call.index, input);
  }

  #end(call: OpenCall, data?: ProviderData[string]): void {
    if (call.ended) return;
    call.ended = true;
    const end = { type: "call-end", index: call.index } as const;
    const own = call.extra === undefined ? data : { ...data, [kept.call]: call.extra };
    this.#batch.add(own ? { ...end, provider: { [this.#provider]: own } } : end);
  }
}

/** Whether a piece that names a tool is another call than the one that has its index already. */
function isAnother(call: OpenCall, id: string, input: string): boolean {
  if (id === "") return input !== "" && isWhole(call.input);
  if (id === call.id) return false;
  return isWhole(call.input) || (call.input === "" && call.id !== "");
}

function inputText(value: unknown): string {
  if (typeof value === "string") return value;
  return isRecord(value) ? JSON.stringify(value) : "";
}

function isWhole(input: string): boolean {
  if (!input.trimEnd().endsWith("}")) return false;
  try {
    JSON.parse(input);
    return true;
  } catch {
    // Not JSON yet: the rest is still to come.
    return false;
  }
}
