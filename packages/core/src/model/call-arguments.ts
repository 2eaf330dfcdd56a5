/** Times that one call's arguments are parsed to see whether they are whole: strings can look like it again and again. */
const LOOKS = 64;
/** UTF-16 units of an empty object, blanks included. */
const SHORT = 64;

/**
 * The arguments of a call as their pieces come, without what servers send again (F63): the whole arguments behind their pieces, or
 * `{}` before them. Takes a piece and returns what is new in it.
 */
export class CallArguments {
  #text = "";
  /** `{}`, or its beginning, which stays out until it is known whether the arguments follow. */
  #held = "";
  /** The last piece ends with a brace, so that the arguments may be whole. */
  #closes = false;
  #isWhole = false;
  #looks = 0;

  /** Whether the arguments so far are a whole object. */
  get isWhole(): boolean {
    return this.#isWhole || isObject(this.#text + this.#held);
  }

  /** Whether nothing has come so far. */
  get isEmpty(): boolean {
    return this.#text === "" && this.#held === "";
  }

  /** Whether a piece holds the whole arguments once more. */
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
    if (this.#closes && beginsObject(piece) && this.#looks++ < LOOKS && isObject(this.#text)) {
      this.#isWhole = true;
      return "";
    }
    return this.#add(piece);
  }

  /** What was kept back, at the end. */
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

function isObject(text: string): boolean {
  if (!text.trimEnd().endsWith("}")) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    // Not JSON yet: the rest is still to come.
    return false;
  }
}
