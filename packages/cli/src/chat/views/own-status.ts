import { visibleLine } from "@banyan/core/shown";
import { statusLineSaid } from "@banyan/host";
import { coloredLine, oneLine } from "../../show/plain-text.ts";

/** A command that says what stands below the prompt. */
export interface OwnStatusOptions {
  readonly command: string;
  /** Where it runs. */
  readonly directory: string;
  /** What it is told, as it is then. */
  facts(): object;
  /** It says another line, or none any more. */
  changed(): void;
  /** What is wrong with it, in a sentence. */
  tell(sentence: string): void;
}

/** Milliseconds between a change and the command, and between one end of it and the next beginning: as in Claude Code. */
const APART = 300;
/** Characters of a line; no terminal is wider. */
const LONGEST = 2_000;

/**
 * The status line of a person's own: what their command says of the moment (T55). It runs at most about three times a second,
 * never twice at once. While it fails there is none; that is said the first time.
 *
 * ```
 * changed ──300 ms──▶ runs ──▶ its first line ──changed meanwhile──▶ 300 ms, runs ...
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

  /** What stands below the prompt; nothing while the usual line does. */
  get line(): string | undefined {
    return this.#line;
  }

  /** What it would be told has changed. */
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
      const problem = oneLine(said.problem);
      tell(`The command of your status line, ${visibleLine(command)}, ${problem}. The usual line stands there.`);
    }
    if (line === this.#line) return;
    this.#line = line;
    changed();
  }

  /** Resolves when nothing of it runs any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    clearTimeout(this.#waiting);
    await this.#running;
  }
}
