import { type Session, StoreError } from "@banyan/core";
import type { LiveRun } from "@banyan/core/conversation";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import type { SharedDatabase } from "./shared-database.ts";

const AT_ONCE = 8;
/** Milliseconds to skip a conversation that could not be opened, so that it does not block others. */
const UNABLE = 60_000;

/** Options of `Takeover`. See {@link Takeover}. */
export interface TakeoverOptions {
  readonly shared: SharedDatabase;
  /** True to take also conversations without an owner that have waiting requests (`SharedDatabase.ask`). */
  readonly takesWaiting: boolean;
  /** Opens a conversation and resumes its runs. Rejects if the conversation cannot be opened, as with `locked`. */
  take(conversation: string): Promise<void>;
  /** Called with the error of a failed takeover, unless another node was faster. */
  defect(error: unknown): void;
}

const OPTIONS: OptionNames<TakeoverOptions> = { shared: true, takesWaiting: true, take: true, defect: true };

/**
 * Finds the open conversations of dead nodes and takes them over.
 * @example
 * const { shared } = await postgresStore("postgres://127.0.0.1/banyan");
 * const takeover = new Takeover({
 *   shared,
 *   takesWaiting: false,
 *   take: async (id) => void (await Session.open(store, id)),
 *   defect: (error) => console.error(error),
 * });
 * await takeover.look();
 */
export class Takeover {
  readonly #options: TakeoverOptions;
  /** Conversations to skip. The value is the end of the skipping, on the clock of `performance.now()`. */
  readonly #unable = new Map<string, number>();
  #looking: Promise<void> | undefined;

  constructor(options: TakeoverOptions) {
    refuseUnknown("a takeover", options, OPTIONS);
    this.#options = options;
  }

  /** Takes over all such conversations. Concurrent calls share one search. Rejects with a `StoreError`. */
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
 * Returns the interrupted runs to resume automatically. If several nodes died, returns none. Rejects with `StoreError`.
 * @example
 * const { shared } = await postgresStore("postgres://127.0.0.1/banyan");
 * for (const { id } of await runsToGoOnWith(session, shared)) console.log(id);
 */
export async function runsToGoOnWith(session: Session, shared: SharedDatabase): Promise<readonly LiveRun[]> {
  const runs = session.interrupted.filter(({ call }) => call === undefined);
  return runs.length > 0 && (await shared.drive(session.id)) ? runs : [];
}
