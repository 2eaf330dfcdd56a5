import type { EventBody } from "../conversation/event.ts";
import type { BackgroundWork } from "../ports/tool-values.ts";
import { SessionError } from "./error.ts";

interface RunningProcess {
  readonly staying: BackgroundWork;
  /** The user or program that stopped the process, as the end of a sentence. Absent: the process ended by itself. */
  by: string | undefined;
  /** Resolves when the end of the process is in the log, or when nothing more can be written to the log. */
  readonly over: Promise<void>;
}

const WITH_SESSION = "it was ended with the conversation that it belonged to";

/** Background processes that a session's calls started. Each process ends by itself, by `stop`, or with the session. */
export class Processes {
  readonly #begun: () => number;
  readonly #commit: (event: EventBody) => void | Promise<void>;
  readonly #running = new Map<string, RunningProcess>();
  /** Number of names given. The start of some of these processes may not be in the log yet. */
  #named = 0;
  #ending: string | undefined;

  constructor(begun: () => number, commit: (event: EventBody) => void | Promise<void>) {
    this.#begun = begun;
    this.#commit = commit;
  }

  /** Registers a process, and returns its name once the log has the start. Ends it if `commit` rejects. @internal */
  async stay(of: { readonly message: string; readonly call: string }, staying: BackgroundWork): Promise<string> {
    this.#named = Math.max(this.#named, this.#begun()) + 1;
    const process = `p${this.#named}`;
    const told = async () => this.#commit({ type: "process.started", ...of, process, title: staying.title });
    try {
      await told();
    } catch (error) {
      staying.end();
      throw error;
    }
    this.#running.set(process, { staying, by: this.#ending, over: this.#watch(process, staying) });
    if (this.#ending !== undefined) staying.end();
    staying.stays?.(async () => (this.#running.has(process) ? told() : undefined));
    return process;
  }

  async #watch(process: string, { over }: BackgroundWork): Promise<void> {
    const { outcome, known } = await over;
    const by = this.#running.get(process)?.by;
    this.#running.delete(process);
    try {
      await this.#commit({ type: "process.ended", process, outcome: by ?? outcome, ...(known && !by && { known }) });
    } catch {
      // The session cannot write any more. Opening the conversation again records that the process ended with its
      // program.
    }
  }

  /**
   * Stops a process by its name (`p1`) and resolves when it has ended. `by`: the end of a sentence for the model and
   * the readers. Rejects with `SessionError` (`no-process`) if no such process runs.
   * @example
   * await session.processes.stop("p1");
   */
  async stop(process: string, by = "a user stopped it"): Promise<void> {
    const running = this.#running.get(process);
    if (!running)
      throw new SessionError("no-process", `No process ${process} runs in this conversation; it may have ended.`);
    running.by ??= by;
    running.staying.end();
    await running.over;
  }

  /** Ends all processes, and resolves when they have ended. Never rejects. @internal */
  async end(): Promise<void> {
    this.#ending = WITH_SESSION;
    await Promise.all([...this.#running.keys()].map((process) => this.stop(process, WITH_SESSION)));
  }
}
