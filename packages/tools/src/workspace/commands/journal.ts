import { cutTo } from "@banyan/core/shown";
import { stripControls } from "../files/plain-text.ts";

const LINES = 200;
const WIDTH = 2000;

/** Matches the last line of Node after a crash. The error's stack comes before this line. */
const NODE_CRASHED = /^Node\.js v\d/;
const ERROR = /^\W{0,3}(?:Uncaught )?\w*Error(?: \[\w+\])?: /;

/** The last lines that a server wrote outside the protocol, as plain text: standard error, log entries and connection errors. */
export class Journal {
  readonly #lines: string[] = [];
  #open = "";

  /** Adds whole lines. Each line gets the source (`log`, `banyan`) as its prefix. */
  note(who: string, text: string): void {
    for (const line of stripControls(text).split("\n")) this.#keep(`${who}: ${line}`);
  }

  /** Adds a piece of standard error, which may end anywhere. */
  push(text: string): void {
    const [first = "", ...rest] = text.split("\n");
    this.#grow(first);
    for (const next of rest) {
      this.#keep(this.#line);
      this.#open = "";
      this.#grow(next);
    }
  }

  get text(): string {
    return [...this.#lines, ...(this.#open === "" ? [] : [this.#line])].join("\n");
  }

  /** The best line for an error message: the line of the error if Node crashed, otherwise the last line. */
  get last(): string | undefined {
    const lines = this.text.split("\n").filter((line) => line.trim() !== "");
    const last = lines.at(-1);
    return (NODE_CRASHED.test(last ?? "") ? lines.findLast((line) => ERROR.test(line)) : undefined) ?? last;
  }

  /** Keeps more of a long line than `WIDTH`, because where to cut depends on the following characters. */
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
