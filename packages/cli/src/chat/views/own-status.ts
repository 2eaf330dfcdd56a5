import { visibleLine } from "@banyan/core/shown";
import { statusLineSaid } from "@banyan/host";
import { coloredLine, plainLine } from "../../show/plain-text.ts";

export interface OwnStatusOptions {
  readonly command: string;
  readonly directory: string;
  facts(): object;
  changed(): void;
  tell(sentence: string): void;
}

/** Milliseconds between a change and the command, and between two runs of the command: as in Claude Code. */
const APART = 300;
/** Maximum characters of a line; no terminal is wider. */
const LONGEST = 2_000;

/**
 * Shows the first output line of the user's own command as the status line (T55). The command runs 300 ms after a
 * change, at most every 300 ms, and never twice at once. While it fails, there is no line. The first failure is
 * reported.
 */
export class OwnStatus implements AsyncDisposable {
  readonly #options: OwnStatusOptions;
  readonly #over = new AbortController();
  #line: string | undefined;
  #waiting: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #isStale = false;
  #isTold = false;

  constructor(options: OwnStatusOptions) {
    this.#options = options;
  }

  /** The line below the prompt; undefined while the default line is used. */
  get line(): string | undefined {
    return this.#line;
  }

  refresh(): void {
    this.#isStale = true;
    if (this.#over.signal.aborted || this.#waiting || this.#running) return;
    this.#waiting = setTimeout(() => {
      this.#waiting = undefined;
      this.#running = this.#run().finally(() => {
        this.#running = undefined;
        if (this.#isStale) this.refresh();
      });
    }, APART);
  }

  async #run(): Promise<void> {
    const { command, directory, facts, changed, tell } = this.#options;
    this.#isStale = false;
    const said = await statusLineSaid(command, facts(), { directory, env: process.env }, this.#over.signal);
    if (this.#over.signal.aborted) return;
    const line = "line" in said ? coloredLine(said.line.slice(0, LONGEST)) : undefined;
    if ("problem" in said && !this.#isTold) {
      this.#isTold = true;
      const problem = plainLine(said.problem);
      tell(`Your status line command ${visibleLine(command)} ${problem}. The default status line is shown instead.`);
    }
    if (line === this.#line) return;
    this.#line = line;
    changed();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    clearTimeout(this.#waiting);
    await this.#running;
  }
}
