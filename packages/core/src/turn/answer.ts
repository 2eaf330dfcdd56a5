import type { DeltaBody } from "../conversation/event.ts";
import { createId } from "../conversation/id.ts";
import type { AssistantMessage, Json, Part, ProviderData } from "../conversation/message.ts";
import type { ModelPart, ModelSink } from "../ports/model.ts";
import type { FeedReader } from "../session/feed.ts";
import type { Session } from "../session/session.ts";

/** A call as the model asked for it. */
export interface AskedCall {
  readonly id: string;
  readonly tool: string;
  readonly inputText: string;
  readonly input: Json | undefined;
}

type OpenCall = { id: string; tool: string; part: number; text: string; provider?: ProviderData | undefined };

/** The sink of one model call: turns parts into the feed's deltas, and holds what only the end of the message says. */
export class Answer implements ModelSink {
  readonly #session: Session;
  readonly #message: string;
  readonly #origin: object;
  readonly #reader: FeedReader | undefined;
  readonly #open = new Map<number, OpenCall>();
  readonly #calls: OpenCall[] = [];
  readonly #provider = new Map<number, ProviderData>();
  readonly #sources: Part[] = [];
  #part = -1;
  #kind: "text" | "reasoning" | undefined;
  finish: Extract<ModelPart, { type: "finish" }> | undefined;
  /** When the model last said something, in milliseconds of `performance.now()`. */
  heardAt = performance.now();
  /** After the end nothing is taken any more. */
  closed = false;

  constructor(session: Session, message: string, origin: object, reader: FeedReader | undefined) {
    this.#session = session;
    this.#message = message;
    this.#origin = origin;
    this.#reader = reader;
  }

  push(parts: readonly ModelPart[]): boolean {
    if (this.closed) return true;
    this.heardAt = performance.now();
    const deltas: DeltaBody[] = [];
    for (const part of parts) this.#take(part, deltas);
    if (deltas.length > 0) this.#session.stream(deltas, this.#origin);
    return !this.#reader?.full;
  }

  ready(): Promise<void> {
    return this.#reader?.room() ?? Promise.resolve();
  }

  /** Whether the model has said anything that a person could see. */
  get begun(): boolean {
    return this.#part >= 0;
  }

  /** The message as it stands, without empty parts; calls that were not finished are left out unless the message was. */
  parts(): Part[] {
    const streamed = (this.#session.state.messages.get(this.#message) as AssistantMessage | undefined)?.parts ?? [];
    const parts: Part[] = [];
    streamed.forEach((part, index) => {
      const provider = this.#provider.get(index);
      if (part.type !== "text" && part.type !== "reasoning") parts.push({ ...part });
      else if (provider) parts.push({ ...part, provider });
      else if (part.text !== "") parts.push({ ...part });
    });
    for (const call of this.#calls) {
      const part = parts.find((other) => other.type === "call" && other.call === call.id);
      if (part && call.provider) Object.assign(part, { provider: call.provider });
    }
    return [...parts, ...this.#sources];
  }

  calls(): AskedCall[] {
    return this.#calls.map(({ id, tool, text }) => ({ id, tool, inputText: text, input: parseInput(text) }));
  }

  #take(part: ModelPart, deltas: DeltaBody[]): void {
    switch (part.type) {
      case "text":
      case "reasoning":
        if (this.#kind !== part.type) {
          this.#kind = part.type;
          this.#part++;
        } else if (part.text === "") return;
        deltas.push({
          type: part.type === "text" ? "text.delta" : "reasoning.delta",
          message: this.#message,
          part: this.#part,
          text: part.text,
        });
        return;
      case "part-end":
        if (part.provider && this.#kind) this.#provider.set(this.#part, part.provider);
        this.#kind = undefined;
        return;
      case "call": {
        this.#kind = undefined;
        const call: OpenCall = { id: this.#freeId(part.id), tool: part.tool, part: ++this.#part, text: "" };
        this.#open.set(part.index, call);
        this.#calls.push(call);
        deltas.push(this.#inputDelta(call, ""));
        return;
      }
      case "call-input": {
        const call = this.#open.get(part.index);
        if (!call || part.text === "") return;
        call.text += part.text;
        deltas.push(this.#inputDelta(call, part.text));
        return;
      }
      case "call-end": {
        const call = this.#open.get(part.index);
        if (call) call.provider = part.provider;
        this.#open.delete(part.index);
        return;
      }
      case "source":
        this.#sources.push(part);
        return;
      case "finish":
        this.finish = part;
    }
  }

  #inputDelta(call: OpenCall, text: string): DeltaBody {
    return { type: "call.input.delta", message: this.#message, part: call.part, call: call.id, tool: call.tool, text };
  }

  /** The provider's id; a new one when it is missing or was used before in this conversation. */
  #freeId(id: string): string {
    const taken = id === "" || this.#session.state.calls.has(id) || this.#calls.some((call) => call.id === id);
    return taken ? `call_${createId()}` : id;
  }
}

/** The arguments that a model wrote: JSON, JSON in a JSON string, or nothing at all for a tool without arguments. */
function parseInput(text: string): Json | undefined {
  if (text.trim() === "") return {};
  try {
    let value = JSON.parse(text) as Json;
    if (typeof value === "string") value = JSON.parse(value) as Json;
    return value;
  } catch {
    // Not JSON: the call gets a result that says so.
    return undefined;
  }
}
