import type { Command } from "@banyan/protocol";

/** The error of a turn that was interrupted before it began. */
export class TurnNotBegun extends Error {
  override readonly name = "TurnNotBegun";

  constructor() {
    super("The turn was interrupted before it started. Nothing was written.");
  }
}

/** A requested turn that is not yet in the log of its session. */
export interface TurnBeginning extends Disposable {
  /** A signal that aborts when a client hastens or interrupts the turn. The turn then stops waiting for servers. */
  readonly patience: AbortSignal;
  readonly interruption: AbortSignal;
  /** Call when the session has the turn. Throws `TurnNotBegun` if a client interrupted the turn before. */
  begins(): void;
}

interface PendingTurn {
  readonly conversation: string;
  readonly id: string;
  readonly impatience: AbortController;
  readonly interruption: AbortController;
}

/** Turns that are requested but unknown to a session, for example while servers start. Clients can interrupt them. */
export class Beginnings {
  readonly #asked = new Set<PendingTurn>();

  /** Call as soon as the command arrives, and dispose of it after the command: `return await`, not `return`. */
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

  /** Interrupts a conversation's pending turns, or only that of command `id`. Returns their number. */
  interrupt(conversation: string, id?: string): number {
    const meant = this.#of(conversation, id).filter(({ interruption }) => !interruption.signal.aborted);
    for (const asked of meant) {
      asked.interruption.abort(new TurnNotBegun());
      asked.impatience.abort();
    }
    return meant.length;
  }

  /** Lets a conversation's pending turns, or only that of command `id`, begin at once. Returns their number. */
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
