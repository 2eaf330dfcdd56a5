import type { Json } from "@banyan/core";
import type { ProviderData } from "@banyan/core/conversation";
import { CallArguments } from "@banyan/core/drivers";
import { isJsonRecord } from "@banyan/core/shown";
import type { Batch } from "../wire/batch.ts";
import { textAt } from "../wire/json.ts";
import { kept } from "./messages.ts";

interface StreamedToolCall {
  readonly index: number;
  readonly id: string;
  tool: string;
  readonly input: CallArguments;
  /** True if the batch has the call's name. Until then the name may grow. */
  announced: boolean;
  ended: boolean;
  /** Provider data that must be sent back with the call. */
  extra: Json | undefined;
}

/**
 * Assembles tool calls from their pieces. In the chat completions API, `index` identifies a call, and the first piece
 * has id and name. Some servers differ (F63): no index, the same index for every call, repeated or empty ids and names,
 * names in pieces, whole calls in one piece, arguments as an object or repeated. Each piece is added to the call that
 * matches it. If a piece has a tool name and fits no open call, it begins a new call.
 */
export class CallAssembly {
  readonly #batch: Batch;
  readonly #provider: string;
  readonly #offered: ReadonlySet<string>;
  readonly #calls: StreamedToolCall[] = [];
  /** The newest call with each index that the server sent. */
  readonly #byIndex = new Map<number, StreamedToolCall>();
  /** Pieces that came before their tool's name, by index. */
  readonly #early = new Map<number, { id: string; input: string }>();

  /** `provider`: the key of provider data. `offered`: the request's tools, to recognize names in pieces. */
  constructor(batch: Batch, provider: string, offered: ReadonlySet<string>) {
    this.#batch = batch;
    this.#provider = provider;
    this.#offered = offered;
  }

  get any(): boolean {
    return this.#calls.length > 0;
  }

  /** Adds one element of `tool_calls`, or the older `function_call` as `{ function }`. */
  add(piece: Readonly<Record<string, unknown>>): void {
    const fn = isJsonRecord(piece.function) ? piece.function : {};
    const id = textAt(piece, "id");
    const tool = textAt(fn, "name");
    const index = typeof piece.index === "number" ? piece.index : undefined;
    const input = callArgumentsText(fn.arguments);

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
    } else if (tool !== "" && !call.announced) call.tool = this.#longer(call.tool, tool);
    if (piece[kept.call] !== undefined) call.extra = piece[kept.call] as Json;
    if (this.#isWholeName(call.tool)) this.#announce(call);
    this.#grow(call, input);
  }

  /** Ends every call after the last piece. The last call gets the provider data of the answer. */
  end(data?: ProviderData[string]): void {
    const last = this.#calls.at(-1);
    for (const call of this.#calls) this.#end(call, call === last ? data : undefined);
  }

  #find(index: number | undefined, id: string, tool: string, input: string): StreamedToolCall | undefined {
    const last = this.#calls.at(-1);
    if (index !== undefined) {
      const call = this.#byIndex.get(index);
      return call && tool !== "" && this.#isAnother(call, id, tool, input) ? undefined : call;
    }
    if (id !== "") return this.#calls.findLast((call) => call.id === id) ?? (tool === "" ? last : undefined);
    if (tool === "" || last === undefined) return last;
    if (last.tool === tool) return last.input.isWhole ? undefined : last;
    return !last.announced && this.#begins(last.tool + tool) ? last : undefined;
  }

  /** Returns whether a piece with a tool's name belongs to a new call, although a call has its index. */
  #isAnother(call: StreamedToolCall, id: string, tool: string, input: string): boolean {
    if (id !== "") return id !== call.id && (call.input.isWhole || (call.input.isEmpty && call.id !== ""));
    if (input !== "" && call.input.isWhole) return !(tool === call.tool && call.input.isSame(input));
    const isSecond = this.#offered.has(call.tool) && this.#offered.has(tool) && tool !== call.tool;
    return isSecond && !this.#begins(call.tool + tool);
  }

  /** Extends a name with its next piece: a part of the name, the name so far, or the whole name again. */
  #longer(name: string, piece: string): string {
    if (piece === name && this.#offered.has(name)) return name;
    const joined = name + piece;
    return !this.#begins(joined) && piece.startsWith(name) ? piece : joined;
  }

  #begins(name: string): boolean {
    for (const offered of this.#offered) if (offered.startsWith(name)) return true;
    return false;
  }

  #isWholeName(name: string): boolean {
    if (!this.#offered.has(name)) return false;
    for (const offered of this.#offered) if (offered !== name && offered.startsWith(name)) return false;
    return true;
  }

  #begin(index: number | undefined, id: string, tool: string): StreamedToolCall {
    for (const call of this.#calls) {
      this.#announce(call);
      if (!call.ended && call.input.isWhole) this.#end(call);
    }
    const input = new CallArguments();
    const call: StreamedToolCall = {
      index: this.#calls.length,
      id,
      tool,
      input,
      announced: false,
      ended: false,
      extra: undefined,
    };
    this.#calls.push(call);
    if (index !== undefined) this.#byIndex.set(index, call);
    return call;
  }

  #announce(call: StreamedToolCall): void {
    if (call.announced) return;
    call.announced = true;
    this.#batch.add({ type: "call", index: call.index, id: call.id, tool: call.tool });
  }

  #grow(call: StreamedToolCall, input: string): void {
    if (input === "" || call.ended) return;
    this.#announce(call);
    const more = call.input.take(input);
    if (more !== "") this.#batch.callInput(call.index, more);
  }

  #end(call: StreamedToolCall, data?: ProviderData[string]): void {
    if (call.ended) return;
    this.#announce(call);
    const rest = call.input.rest();
    if (rest !== "") this.#batch.callInput(call.index, rest);
    call.ended = true;
    const end = { type: "call-end", index: call.index } as const;
    const own = call.extra === undefined ? data : { ...data, [kept.call]: call.extra };
    this.#batch.add(own ? { ...end, provider: { [this.#provider]: own } } : end);
  }
}

function callArgumentsText(value: unknown): string {
  if (typeof value === "string") return value;
  return isJsonRecord(value) ? JSON.stringify(value) : "";
}
