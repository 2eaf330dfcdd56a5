import { createInterface, type Interface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { visibleLine } from "@banyan/core/shown";
import { wrapSentence } from "../show/fit-text.ts";
import type { Style } from "../show/style.ts";
import {
  LEAVE_HINT,
  LEAVE_WITHIN,
  PASTE_PAUSE,
  QUIET,
  type Terminal,
  type TerminalOptions,
} from "./contract/terminal.ts";
import { decideByLine } from "./decide-by-line.ts";
import { fillByLines } from "./fill-by-lines.ts";
import type { CopyOutcome } from "./questions/clipboard.ts";
import type { DecisionRequest, DecisionResult } from "./questions/decision.ts";
import type { FilledForm, Form, MessageRequest, TerminalQuestion } from "./questions/question.ts";

const CONTINUED = "… ";

/**
 * A terminal that prints line after line and never moves the cursor (T39). The system's line editing echoes input, as
 * screen readers expect. Ctrl-C reaches the program as a signal; the owner of this object then calls `interrupt`.
 */
export class PlainTerminal implements Terminal {
  readonly style: Style;
  readonly numbered = true;
  readonly #input: NodeJS.ReadStream;
  readonly #screen: PlainScreen;
  readonly #env: NodeJS.ProcessEnv;
  readonly #onInterrupt: () => void;
  readonly #onTyped: TerminalOptions["onTyped"];
  readonly #onDraft: (text: string) => void;
  readonly #lines: string[] = [];
  /** Messages that are printed only after the user has answered. */
  readonly #ahead: string[] = [];
  #reader: Interface | undefined;
  #ended = false;
  /** The caller that gets the lines: `read` or `ask`. */
  #asking: "message" | "answer" | undefined;
  /** The line that the user has begun before a question. The whole line is a message (T64). */
  #begun = "";
  /** The prompt of the present request. */
  #prompt = "";
  /** Lines typed without a request. Lines that arrive together form one message. */
  readonly #unasked: string[] = [];
  #unaskedSince: NodeJS.Timeout | undefined;
  #wake: (() => void) | undefined;
  /** Action of Ctrl-C during a request. */
  #interruptAsked: (() => void) | undefined;
  #leaveBefore = 0;

  constructor(options: TerminalOptions) {
    this.style = options.style;
    this.#input = options.input;
    this.#screen = new PlainScreen(options.output);
    this.#env = options.env;
    this.#onInterrupt = options.onInterrupt;
    this.#onTyped = options.onTyped;
    this.#onDraft = (text) => options.onDraft?.(text);
    this.#reader = this.#listen();
  }

  get isClosed(): boolean {
    return this.#ended;
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

  async read({ prompt, initial = "", signal }: MessageRequest): Promise<string | undefined> {
    if (initial !== "") this.write(`(you had written: ${initial})\n`);
    this.#typed();
    for (;;) {
      const text = await this.#asked("message", () => this.#message(prompt, signal));
      this.#kept();
      if (text === "interrupted") {
        if (performance.now() < this.#leaveBefore) return undefined;
        this.#leaveBefore = performance.now() + LEAVE_WITHIN;
        this.write(`${LEAVE_HINT}\n`);
        continue;
      }
      this.#leaveBefore = 0;
      if (!text?.isInterrupted) return text?.text;
      this.write(`(interrupted before it was sent; you had written: ${text.text})\n`);
    }
  }

  async ask({ prompt, initial = "", again = false, signal }: TerminalQuestion): Promise<string | undefined> {
    if (initial !== "") this.write(`(now: ${initial}; an empty line keeps it)\n`);
    this.#typed();
    this.#ahead.push(...this.#lines.splice(0));
    const line = await this.#asked("answer", async () => {
      if (!again) await this.#quiet();
      return this.#line(prompt, signal);
    });
    this.#lines.unshift(...this.#ahead.splice(0));
    if (line !== undefined && line !== "interrupted") return line === "" ? initial : line;
    if (!signal?.aborted) this.#onInterrupt();
    return undefined;
  }

  decide(decision: DecisionRequest): Promise<DecisionResult | undefined> {
    return decideByLine(this, decision);
  }

  fill(form: Form): Promise<FilledForm | undefined> {
    return fillByLines(this, form);
  }

  async copy(text: string): Promise<CopyOutcome> {
    const { copyText } = await import("./questions/clipboard.ts");
    return copyText(text, (bytes) => this.#screen.send(bytes), { env: this.#env });
  }

  interrupt(): void {
    this.freshLine();
    if (this.#interruptAsked) this.#interruptAsked();
    else this.#onInterrupt();
  }

  close(): void {
    this.#ended = true;
    clearTimeout(this.#unaskedSince);
    this.#reader?.close();
    this.#wake?.();
  }

  #listen(): Interface {
    const reader = createInterface({ input: this.#input, terminal: false });
    reader.on("line", (rest) => {
      const line = this.#begun + rest;
      const isBegun = this.#begun !== "";
      this.#begun = "";
      if (this.#asking === "message" || (this.#asking && !isBegun)) {
        this.#lines.push(line);
        this.#wake?.();
        return;
      }
      this.#screen.enterPressed();
      if (this.#asking) this.write(this.#prompt);
      this.#unasked.push(line);
      clearTimeout(this.#unaskedSince);
      this.#unaskedSince = setTimeout(() => this.#typed(), PASTE_PAUSE);
    });
    reader.on("close", () => {
      if (reader !== this.#reader) return;
      this.#ended = true;
      this.#wake?.();
    });
    return reader;
  }

  async #asked<T>(what: "message" | "answer", question: () => Promise<T>): Promise<T> {
    this.#asking = what;
    try {
      return await question();
    } finally {
      this.#asking = undefined;
    }
  }

  /** Delivers lines typed without a request for them. An unused message answers the next request for a message. */
  #typed(): void {
    clearTimeout(this.#unaskedSince);
    const message = this.#unasked.splice(0).join("\n");
    if (message.trim() !== "" && !this.#onTyped(message, false))
      (this.#asking === "answer" ? this.#ahead : this.#lines).push(message);
    this.#kept();
  }

  /** Reports unsent text. `begun`: lines of an incomplete message. */
  #kept(begun: readonly string[] = []): void {
    this.#onDraft([...begun, ...this.#lines].join("\n"));
  }

  /** Reads a message: lines that end with `\` continue, as do lines that arrive at once. */
  async #message(
    prompt: string,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly text: string; readonly isInterrupted?: boolean } | "interrupted" | undefined> {
    const lines: string[] = [];
    let isInterrupted = false;
    for (let prefix = prompt; ; prefix = CONTINUED) {
      const line = await this.#line(prefix, signal);
      if (line === undefined) return lines.length > 0 ? { text: lines.join("\n") } : undefined;
      if (line === "interrupted") return line;
      if (line.endsWith("\\")) {
        lines.push(line.slice(0, -1));
        this.#kept(lines);
        continue;
      }
      lines.push(line);
      // The caller does not have the message yet, so it could not stop it.
      this.#interruptAsked = () => {
        isInterrupted = true;
      };
      for (let known = -1; known !== this.#lines.length; ) {
        known = this.#lines.length;
        await sleep(PASTE_PAUSE);
      }
      this.#interruptAsked = undefined;
      return { text: [...lines, ...this.#lines.splice(0)].join("\n"), isInterrupted };
    }
  }

  async #line(prompt: string, signal: AbortSignal | undefined): Promise<string | "interrupted" | undefined> {
    if (signal?.aborted) return undefined;
    this.freshLine();
    this.#prompt = wrapSentence(prompt, this.columns);
    this.write(this.#prompt + this.#begun);
    let interrupted = false;
    while (this.#lines.length === 0 && !this.#ended && !interrupted && !signal?.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const wake = () => resolve();
      this.#wake = wake;
      this.#interruptAsked = () => {
        interrupted = true;
        wake();
      };
      signal?.addEventListener("abort", wake, { once: true });
      await promise;
      signal?.removeEventListener("abort", wake);
      this.#interruptAsked = undefined;
    }
    if (interrupted) return "interrupted";
    const line = this.#lines.shift();
    if (line === undefined) this.freshLine();
    else this.#screen.enterPressed();
    return line;
  }

  /**
   * Discards lines typed before the question until a pause. Keeps the line that the user has begun, because the rest of
   * the line is yet to come. Raw mode also delivers incomplete lines.
   */
  async #quiet(): Promise<void> {
    if (this.#ended) return;
    const reader = this.#reader;
    let heardAt = performance.now();
    let heard = "";
    const drop = (data: Buffer | string) => {
      heardAt = performance.now();
      heard += data.toString();
      if (data.includes("\x03")) this.interrupt();
    };
    // A replaced reader must not end the input when it closes.
    this.#reader = undefined;
    reader?.close();
    this.#input.setRawMode(true);
    this.#input.on("data", drop);
    this.#input.resume();
    for (let wait = QUIET; wait > 0; wait = heardAt + QUIET - performance.now()) await sleep(wait);
    this.#input.off("data", drop);
    this.#input.setRawMode(false);
    this.#begun = begunLine(this.#begun + heard);
    if (!this.#ended) this.#reader = this.#listen();
  }
}

/** Returns the last line of raw input, if Enter has not ended it. Applies Backspace and Ctrl-U. */
function begunLine(input: string): string {
  let line = "";
  for (const character of input) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: Ctrl-C and Ctrl-U
    if (/[\r\n\x03\x15]/.test(character)) line = "";
    else if (/[\b\x7f]/.test(character)) line = [...line].slice(0, -1).join("");
    else line += character;
  }
  return visibleLine(line);
}

/** The output of a terminal: knows whether the cursor is at the beginning of a line. */
class PlainScreen {
  readonly #output: NodeJS.WriteStream;
  #atLineStart = true;

  constructor(output: NodeJS.WriteStream) {
    this.#output = output;
  }

  get columns(): number {
    return this.#output.columns || 80;
  }

  write(text: string): void {
    if (text === "") return;
    this.#output.write(text);
    this.#atLineStart = text.endsWith("\n");
  }

  send(bytes: string): void {
    this.#output.write(bytes);
  }

  freshLine(): void {
    if (!this.#atLineStart) this.write("\n");
  }

  /** The terminal has echoed Enter. */
  enterPressed(): void {
    this.#atLineStart = true;
  }
}
