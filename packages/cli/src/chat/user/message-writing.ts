import type { Terminal } from "../../terminal/contract/terminal.ts";
import { commandLine } from "../../terminal/questions/question.ts";
import type { UnsentTexts } from "./unsent-texts.ts";

/** Moves the user's text from the prompt into a conversation, or back into the prompt, without loss (T19). */
export class MessageWriting {
  readonly #terminal: Terminal;
  readonly #unsent: UnsentTexts;
  #draft = "";
  /** The line that was read last and is on its way. */
  #sent: { readonly line: string; readonly kept: Disposable; readonly isSaid: boolean } | undefined;

  constructor(terminal: Terminal, unsent: UnsentTexts) {
    this.#terminal = terminal;
    this.#unsent = unsent;
  }

  /** Further text belongs to this conversation or place, whose leftover drafts move into the prompt. */
  isFor(whom: string): void {
    this.#unsent.moveTo(whom);
    this.put(this.#unsent.takeOver());
  }

  /** Inserts a text into the prompt, before its present text. */
  put(text: string): void {
    const { live } = this.#terminal;
    if (text === "") return;
    if (live) live.insert(text);
    else this.#draft = [text, this.#draft].filter((part) => part !== "").join("\n");
  }

  /** Returns the initial text of the next prompt, and clears it. */
  takeDraft(): string {
    const draft = this.#draft;
    this.#draft = "";
    return draft;
  }

  send(line: string): void {
    this.#sent = { line, kept: this.#unsent.sending(line), isSaid: commandLine(line) === undefined };
  }

  /** The line is a command that sends a message. */
  says(): void {
    if (this.#sent) this.#sent = { ...this.#sent, isSaid: true };
  }

  /** The line has arrived, or was a command of the program. */
  arrived(conversation?: string): void {
    if (conversation !== undefined) this.#unsent.moveTo(conversation);
    this.#sent?.kept[Symbol.dispose]();
    this.#sent = undefined;
  }

  /** Ends the line. A message that has not arrived returns to the prompt. */
  returned(): void {
    if (this.#sent?.isSaid) this.put(this.#sent.line);
    this.arrived();
  }
}
