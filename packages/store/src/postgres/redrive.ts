import { type Agent, DirectiveError, newestLeaf, resume, Session } from "@banyan/core";
import type { LiveRun } from "@banyan/core/conversation";
import { OptionError, type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import type { PostgresStore } from "./store.ts";
import { runsToGoOnWith, Takeover } from "./takeover.ts";

/** Average milliseconds between two searches, varied so that nodes do not search at the same time. */
const LOOK = 2_000;

/**
 * Options of `redrive`.
 * @example
 * const options: RedriveOptions = {
 *   agent: (session) => (session.state.labels.kind === "report" ? agent : undefined),
 *   defect: (error) => console.error(error),
 * };
 */
export interface RedriveOptions {
  /** The agent that resumes a conversation. `undefined` leaves the conversation as it is. */
  readonly agent: Agent | ((session: Session) => Agent | undefined | Promise<Agent | undefined>);
  /** Called with an error of one conversation or of the database. Other conversations continue. Must not throw. */
  defect?(error: unknown): void;
}

const OPTIONS: OptionNames<RedriveOptions> = { agent: true, defect: "function" };

/** The running service of `redrive`. See {@link redrive}. */
export interface RedriveService extends AsyncDisposable {
  /** Interrupts running work, which the log records, and closes the conversations. */
  stop(): Promise<void>;
}

/**
 * Resumes the runs of processes that died, until the returned service is stopped. Meant for programs without a server,
 * because `serve({ cluster })` does the same. Opens each conversation whose process has lost its lease, and resumes
 * each run like `agent.chat(resume())`. Does not repeat an external call with an unknown outcome. After three processes
 * have died while a conversation was open, it is not resumed. The calling process may have other conversations open.
 * @example
 * const store = postgresStore("postgres://me@db.example/banyan");
 * await using redriving = redrive(store, { agent });
 */
export function redrive(store: PostgresStore, options: RedriveOptions): RedriveService {
  refuseUnknown("redrive", options, OPTIONS);
  if (typeof store?.shared?.left !== "function")
    throw new OptionError("store of redrive must be a store of postgresStore(...), which several processes can share.");
  if (typeof options?.agent !== "function" && typeof options?.agent?.chat !== "function")
    throw new OptionError("agent of redrive must be an Agent, or a function that returns the agent of a session.");
  return new PostgresRedrive(store, options);
}

class PostgresRedrive implements RedriveService {
  readonly #store: PostgresStore;
  readonly #options: RedriveOptions;
  readonly #takeover: Takeover;
  readonly #timer: NodeJS.Timeout;
  /** Open sessions, with their running work. */
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
    if (!(error instanceof DirectiveError && error.code === "nothing-to-resume")) throw error;
  }
}
