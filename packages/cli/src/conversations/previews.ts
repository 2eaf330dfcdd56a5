import { type ConversationState, leaves, pathTo } from "@banyan/core";
import { counted } from "@banyan/core/shown";
import { type ExchangeLook, lastExchange } from "../chat/views/exchange.ts";
import { plainLine } from "../show/plain-text.ts";
import type { Style } from "../show/style.ts";
import { formatTime } from "../show/table.ts";

/** Maximum lines of the last answer: more than a terminal shows. */
const MOST_LINES = 200;

/** Previews of conversations. They are read on demand, one at a time, the latest request first. */
export class Previews {
  readonly #state: (id: string) => Promise<ConversationState>;
  readonly #agent: string;
  readonly #changed: () => void;
  readonly #known = new Map<string, ConversationState | Error>();
  #wanted: string | undefined;
  #isReading = false;

  /** `changed` is called when a requested conversation has been read. */
  constructor(read: (id: string) => Promise<ConversationState>, agent: string, changed: () => void) {
    this.#state = read;
    this.#agent = agent;
    this.#changed = changed;
  }

  /** Lines about a conversation, as far as it has been read. */
  of(id: string, width: number, style: Style, prose?: ExchangeLook["prose"]): string[] {
    const state = this.#known.get(id);
    if (state instanceof Error) return [style.warning(`Not readable: ${plainLine(state.message)}`)];
    if (state) {
      const facts = [
        counted(pathTo(state, state.leaf).length, "message"),
        counted(leaves(state).length, "branch", "branches"),
        `begun ${formatTime(state.createdAt)}`,
        ...(state.model ? [plainLine(state.model)] : []),
      ];
      const look = { columns: width, style, most: MOST_LINES, ...(prose && { prose }) };
      return [style.dim(facts.join(" · ")), "", ...lastExchange(state, state.leaf, this.#agent, look)];
    }
    this.#wanted = id;
    this.#read().catch((error: unknown) => this.#known.set(id, asError(error)));
    return [style.dim("…")];
  }

  async #read(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      for (let id = this.#wanted; id !== undefined; id = this.#wanted) {
        this.#wanted = undefined;
        const read = await this.#state(id).catch(asError);
        this.#known.set(id, read);
        this.#changed();
      }
    } finally {
      this.#isReading = false;
    }
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
