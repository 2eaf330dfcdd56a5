import { PassThrough, Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { type ConversationState, type Delta, emptyConversation, type FeedItem, reduce } from "@banyan/core";
import type { DeltaSource, EventBody } from "@banyan/core/conversation";
import { onTestFinished, vi } from "vitest";
import { QUIET, type TalkAction } from "../../contract/terminal.ts";
import { FullTerminal } from "../full-terminal.ts";
import type { ColorDepth } from "../theme/terminal-colors.ts";
import { TestScreen } from "./screen.ts";

type Unplaced<T> = T extends Delta
  ? Omit<T, "seq" | "epoch" | "offset" | keyof DeltaSource>
  : T extends unknown
    ? Omit<T, "seq" | "epoch" | "at">
    : never;

/** A full terminal on a screen in memory, and its conversation. */
export class Opened implements Disposable {
  readonly screen: TestScreen;
  readonly terminal: FullTerminal;
  readonly state: ConversationState = emptyConversation();
  readonly typed: [message: string, later: boolean][] = [];
  readonly actions: TalkAction[] = [];
  /** Changes of raw mode, in order. */
  readonly raw: boolean[] = [];
  interrupts = 0;
  draft = "";
  /** True if messages sent without a request are taken. */
  takes = true;
  readonly #input: PassThrough;
  readonly #output: Writable;
  #seq = 0;
  #offset = 0;

  constructor(columns = 80, rows = 24, env: NodeJS.ProcessEnv = {}, depth: ColorDepth = 1) {
    const screen = new TestScreen(columns, rows);
    this.screen = screen;
    this.#input = new PassThrough();
    const output = new Writable({
      decodeStrings: false,
      write: (text: string, _encoding, done) => void screen.write(text).then(() => done()),
    });
    this.#output = output;
    this.terminal = new FullTerminal({
      input: Object.assign(this.#input, { setRawMode: (on: boolean) => this.raw.push(on) }) as never,
      output: Object.assign(output, { getWindowSize: () => [screen.size.columns, screen.size.rows] }) as never,
      env: { TERM: "xterm", ...env },
      depth,
      onTyped: (message, later) => {
        this.typed.push([message, later]);
        return this.takes;
      },
      onInterrupt: () => {
        this.interrupts++;
      },
      onAction: (action) => this.actions.push(action),
      onDraft: (text) => {
        this.draft = text;
      },
    });
  }

  /** Requests a message, as a chat does. */
  reads(initial = ""): Promise<string | undefined> {
    return this.terminal.read({ prompt: "Reply to banyan: ", initial });
  }

  /** Sends keys like a terminal. */
  keys(...keys: readonly string[]): void {
    for (const key of keys) this.#input.write(key);
  }

  /** Emits a resize event. */
  resized(): void {
    this.#output.emit("resize");
  }

  /** Advances the test's mocked clock without a key until a question accepts keys. */
  async quiet(): Promise<void> {
    // Pending input is read first.
    await setImmediate();
    vi.advanceTimersByTime(QUIET);
    this.terminal.refresh();
  }

  /** Applies items to the conversation and shows them. */
  happens(...items: readonly Unplaced<FeedItem>[]): void {
    for (const item of items) {
      const isDelta = item.type.endsWith(".delta");
      if (isDelta) this.#offset++;
      else this.#seq++;
      const place = isDelta ? { run: "r", agent: "agent", depth: 0, offset: this.#offset } : { at: Date.now() };
      const placed = { ...item, seq: this.#seq, epoch: 1, ...place } as FeedItem;
      reduce(this.state, placed);
      this.terminal.view.show(placed, this.state);
    }
  }

  /** Begins a turn: a user message, and the model's response `a`. */
  begins(text = "go"): void {
    this.terminal.follow(this.state);
    const said = [{ type: "text", text }] as const;
    this.happens(
      { type: "message.added", message: "u", parentId: null, role: "user", author: "user", parts: said },
      { ...RUN, type: "run.started", run: "r", leaf: "u" },
      { type: "message.started", message: "a", parentId: "u", run: "r", model: "demo/offline" },
    );
  }

  /** The model requests a call that is allowed. */
  calls(call: string, tool: string, input: object, message = "a"): void {
    const inputText = JSON.stringify(input);
    const about = tool === "shell" && "command" in input ? { about: { command: String(input.command) } } : {};
    this.happens(
      { type: "call.input.delta", message, part: 9, call, tool, text: inputText },
      { type: "call.pending", message, call, tool, inputText, input: JSON.parse(inputText), ...about },
    );
  }

  [Symbol.dispose](): void {
    this.terminal.close();
  }
}

/** A terminal that is closed at the end of the test. */
export function open(...options: ConstructorParameters<typeof Opened>): Opened {
  const opened = new Opened(...options);
  onTestFinished(() => opened[Symbol.dispose]());
  return opened;
}

const RUN: Omit<Extract<EventBody, { type: "run.started" }>, "type" | "run" | "leaf"> = {
  agent: "banyan",
  model: "demo/offline",
  settings: {},
  limits: {},
  mode: "chat",
  instructions: "",
  tools: "",
};
