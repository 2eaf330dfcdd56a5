import { cutTo } from "@banyan/core/shown";
import { stripControls } from "../../workspace/files/plain-text.ts";

/** Lines that are kept, and characters of each. */
const LINES = 200;
const WIDTH = 2000;

/** What Node ends with when it crashes, behind the stack of the error. */
const NODE_CRASHED = /^Node\.js v\d/;
const ERROR = /^\W{0,3}(?:Uncaught )?\w*Error(?: \[\w+\])?: /;

/** The last that a server wrote beside the protocol, as plain text: its standard error, its log, what went wrong. */
export class Journal {
  readonly #lines: string[] = [];
  /** The beginning of a line that has no end yet. */
  #open = "";

  /** Takes whole lines, told apart by who speaks: `log`, `banyan`. */
  note(who: string, text: string): void {
    for (const line of stripControls(text).split("\n")) this.#keep(`${who}: ${line}`);
  }

  /** Takes a stream in pieces that may break anywhere. */
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

  /** The line that says best what went wrong: that of the error where Node crashed, else the last one. */
  get last(): string | undefined {
    const lines = this.text.split("\n").filter((line) => line.trim() !== "");
    const last = lines.at(-1);
    return (NODE_CRASHED.test(last ?? "") ? lines.findLast((line) => ERROR.test(line)) : undefined) ?? last;
  }

  /** Of a line that is too long, more is kept than is shown: where it is cut depends on what stands behind the cut. */
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
