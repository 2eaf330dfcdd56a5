import type { Key } from "node:readline";

/** A whole message that was typed while nobody asked for one. */
export interface Typed {
  readonly text: string;
  /** It was ended with Alt+Enter rather than Enter. */
  readonly later: boolean;
}

/**
 * What a person types while nobody asks for it: messages that were kept for the next prompt, and the beginning of one
 * more, which is not shown until it is taken.
 */
export class TypeAhead {
  readonly #messages: string[] = [];
  #line = "";
  #pasting = false;

  /** Takes a key; answers the message that it completes, if it does. That one is not kept. */
  key(text: string | undefined, key: Key): Typed | undefined {
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
        else return this.#complete(key.meta === true);
        return undefined;
      case "backspace":
        this.#line = Array.from(this.#line).slice(0, -1).join("");
        return undefined;
    }
    if (key.ctrl && key.name === "u") this.#line = "";
    if (text !== undefined && !key.ctrl && !key.meta && !/\p{Cc}/u.test(text)) this.#line += text;
    return undefined;
  }

  /** Keeps a message for the next prompt. */
  keep(message: string): void {
    this.#messages.push(message);
  }

  /** The next message that was kept. */
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

  #complete(later: boolean): Typed | undefined {
    const text = this.takeDraft();
    return text.trim() === "" ? undefined : { text, later };
  }
}
