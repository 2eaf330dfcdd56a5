import type { Event, Store } from "@banyan/core";
import type { ConversationSummary, Log, LogView, OpenLogOptions, SearchHit } from "@banyan/core/stores";
import { checkSequence, logClosed, notFound, openHere, overtakenError, storeClosed } from "../log/refusal.ts";

/**
 * Creates a store that checks events and then drops them, for endless conversations that nobody reads again. Keeps only
 * the last event number of each conversation. Lists and searches find no conversation.
 * @example const serving = handler(agent, { store: forgetfulStore(), authorize: () => true });
 */
export function forgetfulStore(): Store {
  return new ForgetfulStore();
}

interface ForgetfulPosition {
  readonly id: string;
  epoch: number;
  seq: number;
  /** True if this writer has the conversation open. */
  open: boolean;
}

class ForgetfulStore implements Store {
  readonly #positions = new Map<string, ForgetfulPosition>();
  #closed = false;

  async open(id: string, options?: OpenLogOptions): Promise<Log> {
    if (this.#closed) throw storeClosed();
    let position = this.#positions.get(id);
    if (!position) {
      if (!options?.create) throw notFound(id);
      position = { id, epoch: 0, seq: 0, open: false };
      this.#positions.set(id, position);
    }
    if (position.open && !options?.take) throw openHere(id);
    return new ForgetfulLog(position);
  }

  async view(id: string): Promise<LogView> {
    if (!this.#positions.has(id)) throw notFound(id);
    return { seq: 0, read: async function* () {}, close: async () => {} };
  }

  async list(): Promise<ConversationSummary[]> {
    return [];
  }

  async search(): Promise<SearchHit[]> {
    return [];
  }

  async remove(id: string): Promise<void> {
    if (this.#positions.get(id)?.open) throw openHere(id);
    if (!this.#positions.delete(id)) throw notFound(id);
  }

  async close(): Promise<void> {
    this.#closed = true;
  }
}

class ForgetfulLog implements Log {
  readonly epoch: number;
  readonly #position: ForgetfulPosition;
  #closed = false;

  constructor(position: ForgetfulPosition) {
    this.#position = position;
    this.epoch = ++position.epoch;
    position.open = true;
  }

  get seq(): number {
    return this.#position.seq;
  }

  async *read(): AsyncGenerator<readonly Event[]> {}

  append(events: readonly Event[]): void {
    const position = this.#position;
    if (this.#closed) throw logClosed(position.id);
    if (position.epoch !== this.epoch) throw overtakenError(position.id);
    checkSequence(position.id, position.seq, events);
    position.seq += events.length;
  }

  async close(): Promise<void> {
    if (!this.#closed && this.#position.epoch === this.epoch) this.#position.open = false;
    this.#closed = true;
  }
}
