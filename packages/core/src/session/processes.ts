import type { EventBody } from "../conversation/event.ts";
import type { Staying } from "../ports/tool.ts";
import { SessionError } from "./error.ts";

interface Running {
  readonly staying: Staying;
  /** Who ended it, as the end of a sentence; how it ended by itself when absent. */
  by: string | undefined;
  /** Resolves when the log has its end, or can have none any more. */
  readonly over: Promise<void>;
}

const WITH_SESSION = "it was ended with the conversation that it belonged to";

/**
 * Processes that calls of a session began and that go on when the calls have their results. Each ends by itself, by `stop`,
 * or with the session.
 */
export class Processes {
  readonly #begun: () => number;
  readonly #commit: (event: EventBody) => void | Promise<void>;
  readonly #running = new Map<string, Running>();
  /** How many were given a name: the beginning of some may be on its way to the log. */
  #named = 0;
  #ending: string | undefined;

  /** `begun`: how many the log knows of. */
  constructor(begun: () => number, commit: (event: EventBody) => void | Promise<void>) {
    this.#begun = begun;
    this.#commit = commit;
  }

  /**
   * Takes care of something: it is in the log when this resolves, with what it is called, and ends with the session at the
   * latest. Rejects as the session's `commit` does; it is ended then.
   */
  async stay(of: { readonly message: string; readonly call: string }, staying: Staying): Promise<string> {
    this.#named = Math.max(this.#named, this.#begun()) + 1;
    const process = `p${this.#named}`;
    try {
      await this.#commit({ type: "process.started", ...of, process, title: staying.title });
    } catch (error) {
      staying.end();
      throw error;
    }
    this.#running.set(process, { staying, by: this.#ending, over: this.#watch(process, staying) });
    if (this.#ending !== undefined) staying.end();
    return process;
  }

  async #watch(process: string, { over }: Staying): Promise<void> {
    const { outcome, known } = await over;
    const by = this.#running.get(process)?.by;
    this.#running.delete(process);
    try {
      await this.#commit({ type: "process.ended", process, outcome: by ?? outcome, ...(known && !by && { known }) });
    } catch {
      // The session can write no more: whoever opens the conversation again finds that it ended with its program.
    }
  }

  async stop(process: string, by: string): Promise<void> {
    const running = this.#running.get(process);
    if (!running)
      throw new SessionError("no-process", `No process ${process} runs in this conversation; it may have ended.`);
    running.by ??= by;
    running.staying.end();
    await running.over;
  }

  /** Ends all of it; resolves when it is over, and never rejects. */
  async end(): Promise<void> {
    this.#ending = WITH_SESSION;
    await Promise.all([...this.#running.keys()].map((process) => this.stop(process, WITH_SESSION)));
  }
}
