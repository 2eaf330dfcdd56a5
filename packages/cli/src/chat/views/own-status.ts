import { visibleLine } from "@banyan/core/shown";
import { statusLineSaid } from "@banyan/host";
import { coloredLine, plainLine } from "../../show/plain-text.ts";

/** The user's command for a status line. */
export interface OwnStatusOptions {
  readonly command: string;
  /** Folder of the command. */
  readonly directory: string;
  /** Returns the command's input for the present moment. */
  facts(): object;
  /** Called when the line changes or disappears. */
  changed(): void;
  /** Receives a sentence about a failure. */
  tell(sentence: string): void;
}

/** Milliseconds between a change and the command, and between two runs of the command: as in Claude Code. */
const APART = 300;
/** Maximum characters of a line; no terminal is wider. */
const LONGEST = 2_000;

/**
 * The status line of the user's own command (T55). The command runs about three times a second at most, and never
 * twice at once. While it fails there is no line; the first failure is reported.
 *
 * ```
 * changed ──300 ms──▶ runs ──▶ first line of output ──changed meanwhile──▶ 300 ms, runs ...
 * ```
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

  /** The command's input has changed. */
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
      tell(`The command of your status line, ${visibleLine(command)}, ${problem}. The usual line is shown instead.`);
    }
    if (line === this.#line) return;
    this.#line = line;
    changed();
  }

  /** Resolves when the command no longer runs. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    clearTimeout(this.#waiting);
    await this.#running;
  }
}
