import type { Command } from "@banyan/protocol";

/** A turn that was interrupted before it began. */
export class TurnNotBegun extends Error {
  override readonly name = "TurnNotBegun";

  constructor() {
    super("It was interrupted before it began; nothing was written.");
  }
}

/** What a client has asked for and its session does not know of yet. */
export interface Beginning extends Disposable {
  /** From now on the session knows of it. Throws `TurnNotBegun` when it was interrupted before. */
  begins(): void;
}

interface Asked {
  readonly conversation: string;
  readonly id: string;
  isInterrupted: boolean;
}

/**
 * Turns between their command and their run: while a conversation is opened, what is named with @ is read or servers start,
 * no session can be asked to interrupt them. Whoever interrupts means them too.
 */
export class Beginnings {
  readonly #asked = new Set<Asked>();

  /** To be called at once when the command comes, and disposed of when it has been carried out. */
  of({ conversation, id }: Pick<Command<"turn.resume">, "conversation" | "id">): Beginning {
    const asked: Asked = { conversation, id, isInterrupted: false };
    this.#asked.add(asked);
    return {
      begins: () => {
        this.#asked.delete(asked);
        if (asked.isInterrupted) throw new TurnNotBegun();
      },
      [Symbol.dispose]: () => void this.#asked.delete(asked),
    };
  }

  /** Interrupts what was asked for in a conversation, or only the command of this id; answers how many. */
  interrupt(conversation: string, id?: string): number {
    let hit = 0;
    for (const asked of this.#asked) {
      if (asked.isInterrupted || asked.conversation !== conversation || (id !== undefined && asked.id !== id)) continue;
      asked.isInterrupted = true;
      hit++;
    }
    return hit;
  }
}
