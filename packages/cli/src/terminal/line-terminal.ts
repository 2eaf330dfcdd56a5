import { emitKeypressEvents, type Key } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { Style } from "../show/style.ts";
import { type Edited, editLine } from "./edit-line.ts";
import { History } from "./history.ts";
import { Screen } from "./screen.ts";
import {
  LEAVE_HINT,
  LEAVE_WITHIN,
  type MessageRequest,
  QUIET,
  type Question,
  type Terminal,
  type TerminalOptions,
} from "./terminal.ts";
import { TypeAhead } from "./type-ahead.ts";

const MARK_PASTES = "\x1b[?2004h";
const MARK_NO_PASTES = "\x1b[?2004l";

/**
 * A terminal with lines that can be edited. It is in raw mode all the time, so that a key is never shown in the middle of
 * what the agent writes.
 *
 * ```
 * listening (keys are typed ahead, Ctrl-C interrupts) ◀──▶ editing (keys go to the line)
 * ```
 */
export class LineTerminal implements Terminal {
  readonly style: Style;
  readonly numbered = false;
  readonly #input: NodeJS.ReadStream;
  readonly #output: NodeJS.WriteStream;
  readonly #screen: Screen;
  readonly #onInterrupt: () => void;
  readonly #onTyped: TerminalOptions["onTyped"];
  readonly #history: History;
  readonly #ahead = new TypeAhead();
  readonly #closed = new AbortController();
  /** What Ctrl-C does to the line that is being edited. */
  #editing: (() => void) | undefined;
  /** Keys that come now are neither typed ahead nor an answer. */
  #deaf = false;
  #lastKeyAt = 0;
  #leaveBefore = 0;

  constructor(options: TerminalOptions) {
    this.style = options.style;
    this.#input = options.input;
    this.#output = options.output;
    this.#screen = new Screen(options.output);
    this.#onInterrupt = options.onInterrupt;
    this.#onTyped = options.onTyped;
    this.#history = new History(options.history);
    emitKeypressEvents(this.#input);
    this.#input.on("keypress", this.#key);
    this.#output.write(MARK_PASTES);
    this.#listen();
  }

  get columns(): number {
    return this.#screen.columns;
  }

  write(text: string): void {
    this.#screen.write(text);
  }

  freshLine(): void {
    this.#screen.freshLine();
  }

  async read({ prompt, initial = "" }: MessageRequest): Promise<string | undefined> {
    const waiting = initial === "" ? this.#ahead.takeMessage() : undefined;
    if (waiting !== undefined) {
      this.freshLine();
      this.write(`${prompt}${waiting}\n`);
      this.#history.add(waiting);
      return waiting;
    }
    let text = initial === "" ? this.#ahead.takeDraft() : initial;
    for (;;) {
      const edited = await this.#edit({ prompt, initial: text, history: this.#history.lines });
      text = "";
      switch (edited.type) {
        case "entered":
          this.#history.add(edited.text);
          return edited.text;
        case "interrupted":
          this.write("^C\n");
          if (edited.text !== "") this.#history.add(edited.text);
          else if (performance.now() < this.#leaveBefore) return undefined;
          else {
            this.#leaveBefore = performance.now() + LEAVE_WITHIN;
            this.write(`${this.style.dim(LEAVE_HINT)}\n`);
          }
          break;
        case "left":
        case "aborted":
          this.write("\n");
          return undefined;
      }
    }
  }

  async ask({ prompt, initial, again = false, signal }: Question): Promise<string | undefined> {
    const signals = [this.#closed.signal, ...(signal ? [signal] : [])];
    if (!again && !(await this.#quiet(AbortSignal.any(signals)))) return undefined;
    const edited = await this.#edit({ prompt, initial: initial ?? "", signal });
    if (edited.type === "entered") return edited.text;
    this.write(edited.type === "interrupted" ? "^C\n" : "\n");
    if (edited.type !== "aborted") this.#onInterrupt();
    return undefined;
  }

  interrupt(): void {
    if (this.#editing) this.#editing();
    else this.#interrupted();
  }

  close(): void {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort();
    this.#input.off("keypress", this.#key);
    this.#output.write(MARK_NO_PASTES);
    this.#input.setRawMode(false);
    this.#input.pause();
  }

  readonly #key = (text: string | undefined, key: Key): void => {
    this.#lastKeyAt = performance.now();
    if (this.#editing) return;
    if (key.ctrl && key.name === "c") this.#interrupted();
    else if (!this.#deaf) {
      const typed = this.#ahead.key(text, key);
      if (!typed) return;
      this.#history.add(typed.text);
      if (this.#onTyped(typed.text, typed.later)) return;
      this.#ahead.keep(typed.text);
      this.freshLine();
      this.write(`${this.style.dim(`(next: ${typed.text})`)}\n`);
    }
  };

  #interrupted(): void {
    // Nothing is sent by itself after a stop.
    this.#ahead.hold();
    this.#onInterrupt();
  }

  #listen(): void {
    this.#editing = undefined;
    if (this.#closed.signal.aborted) return;
    this.#input.setRawMode(true);
    this.#input.resume();
  }

  async #edit(request: Question & { readonly history?: readonly string[] }): Promise<Edited> {
    this.freshLine();
    const pressed = new AbortController();
    this.#editing = () => pressed.abort();
    const { signal, ...rest } = request;
    const edited = await editLine({
      ...rest,
      input: this.#input,
      output: this.#output,
      signal: AbortSignal.any([this.#closed.signal, pressed.signal, ...(signal ? [signal] : [])]),
      onKey: () => {
        this.#leaveBefore = 0;
      },
    });
    this.#listen();
    if (edited.type === "entered") this.#screen.enterPressed();
    return pressed.signal.aborted ? { ...edited, type: "interrupted" } : edited;
  }

  /** Waits until no key has come for a while. Keys go to a message that is being typed; without one they count for nothing. */
  async #quiet(signal: AbortSignal): Promise<boolean> {
    this.#deaf = this.#ahead.isEmpty;
    this.#lastKeyAt = performance.now();
    try {
      for (let wait = QUIET; wait > 0; wait = this.#lastKeyAt + QUIET - performance.now()) {
        await sleep(wait, undefined, { signal });
      }
      return true;
    } catch {
      // The signal ended the wait: the question is gone.
      return false;
    } finally {
      this.#deaf = false;
    }
  }
}
