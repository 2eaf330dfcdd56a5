import type { Call, Json } from "@banyan/core/conversation";
import { mainArgument } from "@banyan/core/shown";
import { oneLine } from "../show/plain-text.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { WrittenAnswer, WrittenPart } from "./answering.ts";

/** Lines from which on a text is edited in the person's own editor, where they have one. */
const LONG = 12;

/** How it ended: `kept`, and the question is asked again about what it is now; or the agent was stopped. */
type Edited = "kept" | "stopped";

/**
 * Lets a person change a call before they allow it: the thing itself where the call is about one (the command as a line, what
 * comes into the file in an editor), all arguments as JSON where it is not (T47).
 */
export class CallEditing {
  readonly #terminal: Terminal;
  readonly #call: Call;
  readonly #name: string | undefined;
  readonly #written: WrittenPart;
  readonly #note: (sentence: string) => void;
  #input: Json | undefined;

  constructor(terminal: Terminal, call: Call, written: WrittenAnswer, note: (sentence: string) => void) {
    const main = mainArgument(call);
    // Where lines are typed one by one, a text of several is written as JSON has it.
    this.#name = main !== undefined && !terminal.live && textIn(call.input, main).includes("\n") ? undefined : main;
    this.#terminal = terminal;
    this.#call = call;
    this.#written = written.part(this.#name ?? "Arguments");
    this.#note = note;
  }

  /** Something was written before, and not used. */
  get isBegun(): boolean {
    return this.#written.text !== "";
  }

  /** The arguments as the person wants them; nothing as long as they are as the agent wrote them. */
  get input(): Json | undefined {
    return this.#input;
  }

  /** Lets the person change it. `again`: they were asked about the call before. */
  async edit({ again, signal }: { readonly again: boolean; readonly signal: AbortSignal }): Promise<Edited> {
    const { input = {}, tool, about } = this.#call;
    const name = this.#name;
    const now = name === undefined ? JSON.stringify(input) : textIn(input, name);
    const file = name !== undefined && about?.change ? about.paths?.[0]?.path : undefined;
    const initial = this.#written.asked(now);
    const outside = await this.#outside(initial.initial ?? now, file);
    if (outside !== undefined) {
      this.#read(outside);
      return "kept";
    }
    let isBack = false;
    const line = await this.#terminal.ask({
      prompt: `${name === undefined ? "Arguments" : oneLine(name)} of ${oneLine(tool)}: `,
      ...initial,
      ...(file !== undefined && { file }),
      onBack: () => {
        isBack = true;
      },
      again,
      signal,
    });
    if (line !== undefined) this.#read(line);
    return line !== undefined || isBack ? "kept" : "stopped";
  }

  async #outside(text: string, file = "command.sh"): Promise<string | undefined> {
    const { live } = this.#terminal;
    if (!live || text.split("\n").length < LONG) return undefined;
    // Whoever lends the terminal has said what went wrong: nothing was changed.
    return live.edit(text, file).catch(() => text);
  }

  #read(text: string): void {
    this.#written.draft(text);
    const input = this.#name === undefined ? this.#parsed(text) : { ...recordOf(this.#call.input), [this.#name]: text };
    if (input === undefined) return;
    this.#written.use(text);
    this.#input = JSON.stringify(input) === JSON.stringify(this.#call.input) ? undefined : input;
  }

  #parsed(text: string): Json | undefined {
    try {
      return JSON.parse(text) as Json;
    } catch (error) {
      const why = error instanceof Error ? oneLine(error.message) : error;
      this.#note(`The arguments stay as they were: that is not JSON (${why}).`);
      return undefined;
    }
  }
}

function recordOf(input: Json | undefined): Readonly<Record<string, Json>> {
  return typeof input === "object" && input !== null && !Array.isArray(input)
    ? (input as Readonly<Record<string, Json>>)
    : {};
}

function textIn(input: Json | undefined, name: string): string {
  const text = recordOf(input)[name];
  return typeof text === "string" ? text : "";
}
