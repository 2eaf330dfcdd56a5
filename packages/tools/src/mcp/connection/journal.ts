import { cutTo } from "@banyan/core/shown";
import { stripControls } from "../../workspace/files/plain-text.ts";

/** Maximum number of lines in a journal, and maximum length of a line in characters. */
const LINES = 200;
const WIDTH = 2000;

/** The last line of Node after a crash. The error's stack comes before this line. */
const NODE_CRASHED = /^Node\.js v\d/;
const ERROR = /^\W{0,3}(?:Uncaught )?\w*Error(?: \[\w+\])?: /;

/** The last lines of a server outside the protocol, as plain text: standard error, log, and connection errors. */
export class Journal {
  readonly #lines: string[] = [];
  /** The beginning of an unfinished line. */
  #open = "";

  /** Adds whole lines with the source as prefix: `log`, `banyan`. */
  note(who: string, text: string): void {
    for (const line of stripControls(text).split("\n")) this.#keep(`${who}: ${line}`);
  }

  /** Adds a piece of a stream. A piece may end anywhere. */
  push(text: string): void {
    const [first = "", ...rest] = text.split("\n");
    this.#grow(first);
    for (const next of rest) {
      this.#keep(this.#line);
      this.#open = "";
      this.#grow(next);
    }
  }

  /** The lines, oldest first. */
  get text(): string {
    return [...this.#lines, ...(this.#open === "" ? [] : [this.#line])].join("\n");
  }

  /** Returns the best line for an error message: the error line if Node crashed, else the last line. */
  get last(): string | undefined {
    const lines = this.text.split("\n").filter((line) => line.trim() !== "");
    const last = lines.at(-1);
    return (NODE_CRASHED.test(last ?? "") ? lines.findLast((line) => ERROR.test(line)) : undefined) ?? last;
  }

  /** Keeps more of a long line than `WIDTH`: the right place of the cut depends on the characters after the cut. */
  #grow(text: string): void {
    this.#open = (this.#open + text).slice(0, 2 * WIDTH);
  }

  get #line(): string {
    return cutTo(stripControls(this.#open), WIDTH, "");
  }

  #keep(line: string): void {
    this.#lines.push(cutTo(line, WIDTH));
    if (this.#lines.length > LINES) this.#lines.shift();
  }
}
