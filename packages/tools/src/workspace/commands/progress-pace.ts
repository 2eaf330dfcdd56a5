import { BoundedOutput } from "../files/output.ts";

const PACE = 50;
const KEPT = { head: 2000, tail: 6000 };

/** Passes text on at a readable pace: the first text at once, then a short piece every 50 ms, and the rest on disposing. */
export class ProgressPace implements Disposable {
  readonly #show: (text: string) => void;
  #waiting: BoundedOutput | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(show: (text: string) => void) {
    this.#show = show;
  }

  push(text: string): void {
    if (text === "") return;
    this.#waiting ??= new BoundedOutput(KEPT);
    this.#waiting.push(text);
    if (this.#timer === undefined) this.#pass();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    if (this.#waiting !== undefined) this.#show(this.#waiting.text());
    this.#waiting = undefined;
  }

  #pass(): void {
    this.#timer = undefined;
    if (this.#waiting === undefined) return;
    const text = this.#waiting.text();
    this.#waiting = undefined;
    this.#timer = setTimeout(() => this.#pass(), PACE);
    this.#show(text);
  }
}
