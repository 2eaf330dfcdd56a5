/**
 * Makes text of a model or tool safe for a terminal (S12): removes escape sequences and control characters, also the
 * 8-bit forms (U+0080 to U+009F), and normalizes line ends to `\n`. The text may arrive in pieces that cut a sequence
 * anywhere.
 *
 * ```
 * text ──ESC──▶ escape ──[──▶ control sequence ──final byte──▶ text
 *                  ├──] P X ^ _──▶ control string ──BEL, ST──▶ text
 *                  ╰──any other──▶ text
 * ```
 */
export class PlainText {
  #state: "text" | "escape" | "sequence" | "string" | "string-escape" = "text";
  #afterReturn = false;
  /** Half of a surrogate pair, kept because output would replace each half by an error sign. */
  #half = "";

  push(added: string): string {
    const text = this.#half + added;
    this.#half = FIRST_HALF.exec(text)?.[0] ?? "";
    const piece = this.#half === "" ? text : text.slice(0, -1);
    if (this.#state === "text" && !this.#afterReturn && !CONTROL.test(piece)) return piece;
    let plain = "";
    for (const character of piece) plain += this.#next(character);
    return plain;
  }

  #next(character: string): string {
    const code = character.charCodeAt(0);
    switch (this.#state) {
      case "escape":
        return this.#escape(character, code);
      case "sequence":
        // Parameter bytes precede one final byte. A control character means that the sequence was cut.
        if (code >= 0x20 && code < 0x40) return "";
        this.#state = "text";
        return code >= 0x40 && code < 0x7f ? "" : this.#next(character);
      case "string":
        if (code === BEL || code === ST) this.#state = "text";
        else if (code === ESC) this.#state = "string-escape";
        return "";
      case "string-escape":
        if (character === "\\") this.#state = "text";
        else if (code !== ESC) this.#state = code === BEL ? "text" : "string";
        return "";
      case "text":
        return this.#text(character, code);
    }
  }

  #escape(character: string, code: number): string {
    if (character === "[") this.#state = "sequence";
    else if ("]PX^_".includes(character)) this.#state = "string";
    // Intermediate bytes, as in the choice of a character set, precede one more byte.
    else if (code >= 0x20 && code < 0x30) return "";
    else {
      this.#state = "text";
      if (code < 0x20 || code >= 0x7f) return this.#next(character);
    }
    return "";
  }

  #text(character: string, code: number): string {
    const second = this.#afterReturn && character === "\n";
    this.#afterReturn = character === "\r";
    if (second) return "";
    if (character === "\r") return "\n";
    if (character === "\n" || character === "\t") return character;
    if (code === ESC) this.#state = "escape";
    else if (code === CSI) this.#state = "sequence";
    else if (code === 0x90 || code === 0x98 || (code >= 0x9d && code <= 0x9f)) this.#state = "string";
    return CONTROL.test(character) ? "" : character;
  }
}

const FIRST_HALF = /[\ud800-\udbff]$/;
const BEL = 0x07;
const ESC = 0x1b;
const CSI = 0x9b;
const ST = 0x9c;

/** Control characters except line end and tab, and characters that change the text direction. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;

export function plainText(text: string): string {
  return new PlainText().push(text);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control sequences
const COLOR = /(\x1b\[[\d;:]*m)/;

/** Returns text on one line. Keeps escape sequences for colours and removes all others. */
export function coloredLine(text: string): string {
  const pieces = text.split(COLOR);
  return pieces
    .map((piece, index) => (index % 2 === 1 ? piece : plainText(piece).replace(/\s/g, " ")))
    .join("")
    .trim();
}

/** Returns plain text on one line, with single spaces. */
export function plainLine(text: string): string {
  return plainText(text).replace(/\s+/g, " ").trim();
}
