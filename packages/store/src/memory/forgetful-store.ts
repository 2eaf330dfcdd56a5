import type { ConversationSummary, Event, Log, Store } from "@banyan/core";
import { checkSequence, logClosed, notFound, overtaken, storeClosed } from "../refusal.ts";

/**
 * Keeps nothing but how far each conversation has come: for conversations without end that nobody wants to read again.
 * Appends are checked and forgotten at once; reading yields nothing, and no conversation is listed.
 */
export function forgetfulStore(): Store {
  return new ForgetfulStore();
}

interface Position {
  readonly id: string;
  epoch: number;
  seq: number;
}

class ForgetfulStore implements Store {
  readonly #positions = new Map<string, Position>();
  #closed = false;

  async open(id: string, options?: { readonly create?: boolean }): Promise<Log> {
    if (this.#closed) throw storeClosed();
    let position = this.#positions.get(id);
    if (!position) {
      if (!options?.create) throw notFound(id);
      position = { id, epoch: 0, seq: 0 };
      this.#positions.set(id, position);
    }
    return new ForgetfulLog(position);
  }

  async list(): Promise<ConversationSummary[]> {
    return [];
  }

  async close(): Promise<void> {
    this.#closed = true;
  }
}

class ForgetfulLog implements Log {
  readonly epoch: number;
  readonly #position: Position;
  #closed = false;

  constructor(position: Position) {
    this.#position = position;
    this.epoch = ++position.epoch;
  }

  get seq(): number {
    return this.#position.seq;
  }

  async *read(): AsyncGenerator<readonly Event[]> {}

  append(events: readonly Event[]): void {
    const position = this.#position;
    if (this.#closed) throw logClosed(position.id);
    if (position.epoch !== this.epoch) throw overtaken(position.id);
    checkSequence(position.id, position.seq, events);
    position.seq += events.length;
  }

  async close(): Promise<void> {
    this.#closed = true;
  }
}
