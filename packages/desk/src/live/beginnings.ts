import type { Command } from "@banyan/protocol";

/** A turn that was interrupted before it began. */
export class TurnNotBegun extends Error {
  override readonly name = "TurnNotBegun";

  constructor() {
    super("Interrupted before it started. Nothing was written.");
  }
}

/** A requested turn that is not in its session's log yet. */
export interface TurnBeginning extends Disposable {
  /** Aborts when the turn must stop waiting for servers: a client hastened or interrupted it. */
  readonly patience: AbortSignal;
  /** Aborts with `TurnNotBegun` when a client interrupts the turn. */
  readonly interruption: AbortSignal;
  /** Hands the turn over to the session. Throws `TurnNotBegun` when a client interrupted the turn before. */
  begins(): void;
}

interface PendingTurn {
  readonly conversation: string;
  readonly id: string;
  readonly impatience: AbortController;
  readonly interruption: AbortController;
}

/**
 * Turns between their command and their run. While a conversation opens, `@` references are read or servers start, no session
 * knows the turn. An interruption must reach these turns, too.
 */
export class Beginnings {
  readonly #asked = new Set<PendingTurn>();

  /** Call this as soon as the command arrives. Dispose of the result when the command is done: `return await`, not `return`. */
  of({ conversation, id }: Pick<Command<"turn.resume">, "conversation" | "id">): TurnBeginning {
    const asked: PendingTurn = {
      conversation,
      id,
      impatience: new AbortController(),
      interruption: new AbortController(),
    };
    this.#asked.add(asked);
    return {
      patience: asked.impatience.signal,
      interruption: asked.interruption.signal,
      begins: () => {
        this.#asked.delete(asked);
        asked.interruption.signal.throwIfAborted();
      },
      [Symbol.dispose]: () => {
        this.#asked.delete(asked);
      },
    };
  }

  /** Interrupts the pending turns of a conversation, or only the turn of command `id`. Returns how many. */
  interrupt(conversation: string, id?: string): number {
    const meant = this.#of(conversation, id).filter(({ interruption }) => !interruption.signal.aborted);
    for (const asked of meant) {
      asked.interruption.abort(new TurnNotBegun());
      asked.impatience.abort();
    }
    return meant.length;
  }

  /** Lets the pending turns of a conversation, or only that of command `id`, begin without further waiting. Returns how many. */
  hasten(conversation: string, id?: string): number {
    const meant = this.#of(conversation, id).filter(({ impatience }) => !impatience.signal.aborted);
    for (const { impatience } of meant) impatience.abort();
    return meant.length;
  }

  #of(conversation: string, id: string | undefined): readonly PendingTurn[] {
    return [...this.#asked].filter(
      (asked) => asked.conversation === conversation && (id === undefined || asked.id === id),
    );
  }
}
