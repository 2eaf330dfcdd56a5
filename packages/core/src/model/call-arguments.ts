import { parseJsonText } from "../conversation/shape-problem.ts";

/** Maximum attempts to parse one call's arguments, because strings may often look complete. */
const LOOKS = 64;
/** Maximum UTF-16 units of an empty object with spaces. */
const SHORT = 64;

/**
 * Collects the pieces of a call's arguments. Some servers repeat all arguments after the pieces, or send `{}` before
 * them. Such repetitions are dropped (F63). `take` returns the text of a piece without repetitions.
 * @example
 * const written = new CallArguments();
 * written.take('{"path":"a.txt"}'); // '{"path":"a.txt"}'
 * written.take('{"path":"a.txt"}'); // "", because the server repeats the arguments
 */
export class CallArguments {
  #text = "";
  /** `{}` or its beginning, which is held until it is known if other arguments follow. */
  #held = "";
  /** The last piece ends with a brace, so the arguments may be complete. */
  #closes = false;
  #isWhole = false;
  #looks = 0;

  get isWhole(): boolean {
    return this.#isWhole || isJsonObjectText(this.#text + this.#held);
  }

  get isEmpty(): boolean {
    return this.#text === "" && this.#held === "";
  }

  isSame(piece: string): boolean {
    return piece.trim() === (this.#text + this.#held).trim();
  }

  take(piece: string): string {
    if (piece === "" || this.#isWhole) return "";
    if (this.#text === "") {
      const again = this.#held.includes("}") && beginsObject(piece);
      const held = again ? piece : this.#held + piece;
      if (held.length < SHORT && /^\s*\{?\s*\}?\s*$/.test(held)) {
        this.#held = held;
        return "";
      }
      this.#held = "";
      return this.#add(held);
    }
    if (this.#closes && beginsObject(piece) && this.#looks++ < LOOKS && isJsonObjectText(this.#text)) {
      this.#isWhole = true;
      return "";
    }
    return this.#add(piece);
  }

  rest(): string {
    const held = this.#held;
    this.#held = "";
    this.#text += held;
    return held;
  }

  #add(text: string): string {
    this.#text += text;
    this.#closes = text.trimEnd().endsWith("}");
    return text;
  }
}

function beginsObject(text: string): boolean {
  return text.trimStart().startsWith("{");
}

function isJsonObjectText(text: string): boolean {
  return text.trimEnd().endsWith("}") && parseJsonText(text) !== undefined;
}
