import { commandLine, type Terminal } from "../../terminal/terminal.ts";
import type { Unsent } from "./unsent.ts";

/** What a person writes: from the prompt into a conversation, or back into the prompt. None of it is lost on the way (T19). */
export class Writing {
  readonly #terminal: Terminal;
  readonly #unsent: Unsent;
  /** Stands in the prompt when it comes. */
  #draft = "";
  /** What was taken from the prompt last, and is on its way. */
  #sent: { readonly line: string; readonly kept: Disposable; readonly isSaid: boolean } | undefined;

  constructor(terminal: Terminal, unsent: Unsent) {
    this.#terminal = terminal;
    this.#unsent = unsent;
  }

  /** What is written from now on is for a conversation, or for the next one of a place, as is what was left behind there. */
  isFor(whom: string): void {
    this.#unsent.moveTo(whom);
    this.put(this.#unsent.takeOver());
  }

  /** Puts a text into the prompt, before what stands there. */
  put(text: string): void {
    const { live } = this.#terminal;
    if (text === "") return;
    if (live) live.insert(text);
    else this.#draft = [text, this.#draft].filter((part) => part !== "").join("\n");
  }

  /** What stands in the prompt when it comes: once. */
  takeDraft(): string {
    const draft = this.#draft;
    this.#draft = "";
    return draft;
  }

  /** A line goes on its way. */
  send(line: string): void {
    this.#sent = { line, kept: this.#unsent.sending(line), isSaid: commandLine(line) === undefined };
  }

  /** The line that is on its way is a command that says something. */
  says(): void {
    if (this.#sent) this.#sent = { ...this.#sent, isSaid: true };
  }

  /** It is in a conversation, or was for nobody but the program. */
  arrived(conversation?: string): void {
    if (conversation !== undefined) this.#unsent.moveTo(conversation);
    this.#sent?.kept[Symbol.dispose]();
    this.#sent = undefined;
  }

  /** If a line is still on its way, it did not arrive: a message is written, and not sent. */
  returned(): void {
    if (this.#sent?.isSaid) this.put(this.#sent.line);
    this.arrived();
  }
}
