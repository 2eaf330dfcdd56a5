import { type Session, StoreError } from "@banyan/core";
import type { LiveRun } from "@banyan/core/conversation";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import type { Shared } from "./shared.ts";

/** Conversations that are taken over at once. */
const AT_ONCE = 8;
/** Milliseconds for which one that could not be opened is left alone, so that a few such do not keep all others from being taken. */
const UNABLE = 60_000;

/** How what is left is found and taken. */
export interface TakeoverOptions {
  readonly shared: Shared;
  /** Takes conversations too that nobody has and in which something waits for an owner (`Shared.ask`). */
  readonly takesWaiting: boolean;
  /** Opens a conversation and goes on with what is left in it. Rejects when it cannot be opened, as with `locked`. */
  take(conversation: string): Promise<void>;
  /** Hears why one could not be taken, unless another node was faster. */
  defect(error: unknown): void;
}

const OPTIONS: OptionNames<TakeoverOptions> = { shared: true, takesWaiting: true, take: true, defect: true };

/** Takes over what nodes had open when they died. */
export class Takeover {
  readonly #options: TakeoverOptions;
  /** Those that could not be opened here, and until when they are left alone, in milliseconds of the process. */
  readonly #unable = new Map<string, number>();
  #looking: Promise<void> | undefined;

  constructor(options: TakeoverOptions) {
    refuseUnknown("a takeover", options, OPTIONS);
    this.#options = options;
  }

  /** Takes what there is now. Two who ask for it at once ask for the same. Rejects with `StoreError` when that cannot be known. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { shared, takesWaiting } = this.#options;
    const now = performance.now();
    for (const [conversation, until] of this.#unable) if (until < now) this.#unable.delete(conversation);
    const left = await shared.left(AT_ONCE, { takesWaiting, except: [...this.#unable.keys()] });
    await Promise.all(left.map((conversation) => this.#take(conversation)));
  }

  async #take(conversation: string): Promise<void> {
    const { take, defect } = this.#options;
    try {
      await take(conversation);
    } catch (error) {
      if (error instanceof StoreError && error.code === "locked") return;
      this.#unable.set(conversation, performance.now() + UNABLE);
      defect(error);
    }
  }
}

/**
 * The runs of a conversation that its process left in the middle, for who is to go on with them by himself: none when several
 * processes died over it. A sub-agent's run is not among them, it goes on with the call that launched it. Rejects with `StoreError`.
 */
export async function runsToGoOnWith(session: Session, shared: Shared): Promise<readonly LiveRun[]> {
  const runs = session.interrupted.filter(({ call }) => call === undefined);
  return runs.length > 0 && (await shared.drive(session.id)) ? runs : [];
}
