import type { Key } from "node:readline";

/**
 * What a person types while nobody asks for it: whole messages, ended with Enter, and the beginning of one more. Nothing
 * of it is shown until it is taken.
 */
export class TypeAhead {
  readonly #messages: string[] = [];
  #line = "";
  #pasting = false;

  /** Takes a key; answers the message that it completes, if it does. */
  key(text: string | undefined, key: Key): string | undefined {
    switch (key.name) {
      case "paste-start":
        this.#pasting = true;
        return undefined;
      case "paste-end":
        this.#pasting = false;
        return undefined;
      case "return":
      case "enter":
        if (this.#pasting) this.#line += "\n";
        else return this.#complete();
        return undefined;
      case "backspace":
        this.#line = Array.from(this.#line).slice(0, -1).join("");
        return undefined;
    }
    if (key.ctrl && key.name === "u") this.#line = "";
    if (text !== undefined && !key.ctrl && !key.meta && !/\p{Cc}/u.test(text)) this.#line += text;
    return undefined;
  }

  /** The next whole message. */
  takeMessage(): string | undefined {
    return this.#messages.shift();
  }

  /** The beginning of a message that is not sent yet. */
  takeDraft(): string {
    const draft = this.#line;
    this.#line = "";
    return draft;
  }

  /** Whole messages are not sent by themselves any more: they become part of the draft. */
  hold(): void {
    this.#line = [...this.#messages.splice(0), this.#line].filter((text) => text !== "").join("\n");
  }

  get isEmpty(): boolean {
    return this.#line === "" && this.#messages.length === 0;
  }

  #complete(): string | undefined {
    const message = this.takeDraft();
    if (message.trim() === "") return undefined;
    this.#messages.push(message);
    return message;
  }
}
