import { argumentsText, type CallText, thingText } from "@banyan/client/words";
import type { Call, Json } from "@banyan/core/conversation";
import { plainLine } from "../../show/plain-text.ts";
import type { Terminal } from "../../terminal/contract/terminal.ts";
import type { TerminalQuestion } from "../../terminal/questions/question.ts";
import type { WrittenAnswer, WrittenPart } from "./answer-drafts.ts";

/** Texts of this many lines open in the user's own editor, if they have one. */
const LONG = 12;

/** Result of an edit. `kept`: the question is asked again with the new call. `stopped`: the user stopped the agent. */
type EditOutcome = "kept" | "stopped";

/**
 * Lets the user edit a call before they allow it (T47). A call with a main argument (a command, a file's content, a
 * plan's steps) is edited as text; other calls are edited as JSON.
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
    // A plain terminal reads single lines, so it shows a text of several lines as JSON.
    const isLine = terminal.live || !thing?.text.includes("\n");
    this.#text = thing && isLine ? thing : argumentsText(call.input);
    this.#terminal = terminal;
    this.#call = call;
    this.#written = written.part(this.#text.name ?? "Arguments");
    this.#note = note;
  }

  get isBegun(): boolean {
    return this.#written.text !== "";
  }

  get thing(): string | undefined {
    return this.#text.name;
  }

  get input(): Json | undefined {
    return this.#input;
  }

  /** Lets the user edit the call. `asked.again`: the user has seen the question about the call before. */
  async edit(asked: Pick<TerminalQuestion, "again" | "place" | "signal">): Promise<EditOutcome> {
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
      prompt: `${name === undefined ? "Arguments" : argumentWords(name)} of ${plainLine(tool)}: `,
      ...initial,
      ...(file !== undefined && { file }),
      onBack: () => {
        isBack = true;
      },
      ...asked,
    });
    if (line !== undefined) this.#read(line);
    return line !== undefined || isBack ? "kept" : "stopped";
  }

  async #outside(text: string, file: string): Promise<string | undefined> {
    const { live } = this.#terminal;
    if (!live || text.split("\n").length < LONG) return undefined;
    // The terminal has shown the editor's error: keep the text.
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
      this.#note(`${plainLine(error.message)} The value is unchanged.`);
    }
  }
}

/** Converts the name of an argument to words: "new text" for `new_text`. */
export function argumentWords(name: string): string {
  return plainLine(name.replaceAll("_", " "));
}
