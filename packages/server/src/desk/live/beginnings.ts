import type { Command } from "@banyan/protocol";

/** A turn that was interrupted before it began. */
export class TurnNotBegun extends Error {
  override readonly name = "TurnNotBegun";

  constructor() {
    super("Interrupted before it started. Nothing was written.");
  }
}

/** What a client has asked for and its session does not know of yet. */
export interface Beginning extends Disposable {
  /** Aborts when it is not to wait for anything any longer: it was hastened, or interrupted. */
  readonly patience: AbortSignal;
  /** Aborts, with `TurnNotBegun`, when it was interrupted. */
  readonly interruption: AbortSignal;
  /** From now on the session knows of it. Throws `TurnNotBegun` when it was interrupted before. */
  begins(): void;
}

interface Asked {
  readonly conversation: string;
  readonly id: string;
  readonly impatience: AbortController;
  readonly interruption: AbortController;
}

/**
 * Turns between their command and their run: while a conversation is opened, what is named with @ is read or servers start,
 * no session can be asked to interrupt them. Whoever interrupts means them too.
 */
export class Beginnings {
  readonly #asked = new Set<Asked>();

  /** To be called at once when the command comes; disposed of when that has been carried out: `return await`, not `return`. */
  of({ conversation, id }: Pick<Command<"turn.resume">, "conversation" | "id">): Beginning {
    const asked: Asked = { conversation, id, impatience: new AbortController(), interruption: new AbortController() };
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

  /** Interrupts what was asked for in a conversation, or only the command of this id; returns how many. */
  interrupt(conversation: string, id?: string): number {
    const meant = this.#of(conversation, id).filter(({ interruption }) => !interruption.signal.aborted);
    for (const asked of meant) {
      asked.interruption.abort(new TurnNotBegun());
      asked.impatience.abort();
    }
    return meant.length;
  }

  /** What was asked for in a conversation, or only by this command, begins without what it waits for. Returns how many. */
  hasten(conversation: string, id?: string): number {
    const meant = this.#of(conversation, id).filter(({ impatience }) => !impatience.signal.aborted);
    for (const { impatience } of meant) impatience.abort();
    return meant.length;
  }

  #of(conversation: string, id: string | undefined): readonly Asked[] {
    return [...this.#asked].filter(
      (asked) => asked.conversation === conversation && (id === undefined || asked.id === id),
    );
  }
}
