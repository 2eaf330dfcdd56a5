import { type Agent, DirectiveError, newestLeaf, resume, Session } from "@banyan/core";
import type { LiveRun } from "@banyan/core/conversation";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import type { PostgresStore } from "./store.ts";
import { runsToGoOnWith, Takeover } from "./takeover.ts";

/** Milliseconds between two looks for what a dead process left; three in four to five in four of it, so that not all look at once. */
const LOOK = 2_000;

/**
 * Who goes on with what dead processes left.
 * @example
 * const options: RedriveOptions = {
 *   agent: (session) => (session.state.labels.kind === "report" ? agent : undefined),
 *   defect: (error) => console.error(error),
 * };
 */
export interface RedriveOptions {
  /** The agent that goes on with a conversation; nothing to leave it as it is. */
  readonly agent: Agent | ((session: Session) => Agent | undefined | Promise<Agent | undefined>);
  /** Hears what went wrong with one conversation, or why the database could not be asked; the others go on. Must not throw. */
  defect?(error: unknown): void;
}

const OPTIONS: OptionNames<RedriveOptions> = { agent: true, defect: true };

/** What goes on with the runs of dead processes, until it is stopped. */
export interface Redriving extends AsyncDisposable {
  /** Ends it: what it has at work is interrupted, with its facts in the log, and its conversations are closed. */
  stop(): Promise<void>;
}

/**
 * Goes on with the runs that other processes left in the middle when they died: whenever the lease of one is over, its
 * conversations are opened here, and each run is resumed as `agent.chat(resume())` does, to its end. A call with effects outside
 * whose outcome is unknown is not repeated. A conversation over which three processes died in a row is left alone. The agent's own
 * turn handler is asked as ever. For a program without a server: `serve({ cluster })` does this by itself.
 *
 * The process that calls it is one of those that share the store, and may have conversations of its own open meanwhile.
 * @example
 * const store = postgresStore("postgres://me@db.example/banyan");
 * await using redriving = redrive(store, { agent });
 */
export function redrive(store: PostgresStore, options: RedriveOptions): Redriving {
  refuseUnknown("redrive", options, OPTIONS);
  return new Redrive(store, options);
}

class Redrive implements Redriving {
  readonly #store: PostgresStore;
  readonly #options: RedriveOptions;
  readonly #takeover: Takeover;
  readonly #timer: NodeJS.Timeout;
  /** What is open here, with what is gone on with in it. */
  readonly #open = new Map<Session, Promise<unknown>>();
  #stopped: Promise<void> | undefined;

  constructor(store: PostgresStore, options: RedriveOptions) {
    this.#store = store;
    this.#options = options;
    const defect = (error: unknown) => options.defect?.(error);
    this.#takeover = new Takeover({
      shared: store.shared,
      takesWaiting: false,
      take: (conversation) => this.#take(conversation),
      defect,
    });
    const look = () => {
      this.#takeover.look().catch(defect);
    };
    this.#timer = setInterval(look, LOOK * (0.75 + Math.random() / 2)).unref();
    look();
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#takeover.look().catch(() => {});
    await Promise.all([...this.#open.keys()].map((session) => session.close()));
    await Promise.all(this.#open.values());
  }

  async #take(conversation: string): Promise<void> {
    if (this.#stopped) return;
    const session = await Session.open(this.#store, conversation);
    // It goes on beside the others, and the next look does not wait for it.
    const work = this.#goOn(session)
      .catch((error: unknown) => this.#options.defect?.(error))
      .finally(() => this.#open.delete(session));
    this.#open.set(session, work);
  }

  async #goOn(session: Session): Promise<void> {
    try {
      const { agent: chosen } = this.#options;
      const agent = typeof chosen === "function" ? await chosen(session) : chosen;
      const runs = agent ? await runsToGoOnWith(session, this.#store.shared) : [];
      await Promise.all(runs.map((run) => resumed(agent as Agent, session, run)));
    } finally {
      await session.close();
    }
  }
}

async function resumed(agent: Agent, session: Session, { leaf, mode }: LiveRun): Promise<void> {
  const at = leaf === null || !session.state.messages.has(leaf) ? {} : { at: newestLeaf(session.state, leaf) };
  try {
    const chat = agent.with({ mode }).chat(resume(), { session, ...at });
    for (const items = chat[Symbol.asyncIterator](); !(await items.next()).done; );
  } catch (error) {
    // It had come to its end by itself.
    if (!(error instanceof DirectiveError && error.code === "nothing-to-resume")) throw error;
  }
}
