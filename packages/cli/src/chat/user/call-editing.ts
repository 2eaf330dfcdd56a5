import type { Call, Json } from "@banyan/core/conversation";
import { argumentsText, type CallText, thingText } from "@banyan/core/shown";
import { oneLine } from "../../show/plain-text.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import type { WrittenAnswer, WrittenPart } from "./answering.ts";

/** Lines from which on a text is edited in the person's own editor, where they have one. */
const LONG = 12;

/** How it ended: `kept`, and the question is asked again about what it is now; or the agent was stopped. */
type Edited = "kept" | "stopped";

/**
 * Lets a person change a call before they allow it: the thing itself where the call is about one (the command as a line, what
 * comes into the file in an editor, a plan as a line for each step), all arguments as JSON where it is not (T47).
 */
export class CallEditing {
  readonly #terminal: Terminal;
  readonly #call: Call;
  readonly #text: CallText;
  readonly #written: WrittenPart;
  readonly #note: (sentence: string) => void;
  #input: Json | undefined;

  constructor(terminal: Terminal, call: Call, written: WrittenAnswer, note: (sentence: string) => void) {
    const thing = thingText(call);
    // Where lines are typed one by one, a text of several is written as JSON has it.
    const isLine = terminal.live || !thing?.text.includes("\n");
    this.#text = thing && isLine ? thing : argumentsText(call.input);
    this.#terminal = terminal;
    this.#call = call;
    this.#written = written.part(this.#text.name ?? "Arguments");
    this.#note = note;
  }

  /** Something was written before, and not used. */
  get isBegun(): boolean {
    return this.#written.text !== "";
  }

  /** The argument that is changed by itself; nothing where all of them are. */
  get thing(): string | undefined {
    return this.#text.name;
  }

  /** The arguments as the person wants them; nothing as long as they are as the agent wrote them. */
  get input(): Json | undefined {
    return this.#input;
  }

  /** Lets the person change it. `again`: they were asked about the call before. */
  async edit({ again, signal }: { readonly again: boolean; readonly signal: AbortSignal }): Promise<Edited> {
    const { tool, about } = this.#call;
    const { name, text: now } = this.#text;
    const file = name !== undefined && about?.change ? about.paths?.[0]?.path : undefined;
    const initial = this.#written.asked(now);
    const outside = await this.#outside(initial.initial ?? now, file ?? (about?.plan ? "plan.md" : "command.sh"));
    if (outside !== undefined) {
      this.#read(outside);
      return "kept";
    }
    let isBack = false;
    const line = await this.#terminal.ask({
      prompt: `${name === undefined ? "Arguments" : argumentWords(name)} of ${oneLine(tool)}: `,
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

  async #outside(text: string, file: string): Promise<string | undefined> {
    const { live } = this.#terminal;
    if (!live || text.split("\n").length < LONG) return undefined;
    // Whoever lends the terminal has said what went wrong: nothing was changed.
    return live.edit(text, file).catch(() => text);
  }

  #read(text: string): void {
    this.#written.draft(text);
    try {
      const input = this.#text.read(text);
      this.#written.use(text);
      this.#input = JSON.stringify(input) === JSON.stringify(this.#call.input) ? undefined : input;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      this.#note(`${oneLine(error.message)} It stays as it was.`);
    }
  }
}

/** The name of an argument as words: `new_text` as "new text". */
export function argumentWords(name: string): string {
  return oneLine(name.replaceAll("_", " "));
}
