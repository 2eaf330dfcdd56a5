/** Allowed before an opening fence: spaces, or the marker of a list item. */
const LEAD = /^(?: *| ?[-+*] |[-+*] {2}|\d[.)] )$/;
const LONGEST_LEAD = 3;
const FEWEST_MARKERS = 3;

/**
 * Finds the fenced code blocks of a Markdown text (CommonMark 0.31, section 4.5). The text arrives in pieces, which may
 * end anywhere, even inside a CRLF or a surrogate pair. The listener gets the text of a block as it arrives; only a
 * line that may still become a fence is held back. Line ends (LF, CRLF, CR) are kept. The parser differs from
 * CommonMark where something encloses a fence:
 * - In a list, a fence may begin at most three columns from the left, including the item's marker (`- `, `1. `). Only a
 * closing fence ends the block, not the end of the list.
 * - In a block quote, or more than three columns from the left, nothing is a fence.
 * - HTML hides no fence, neither in a comment nor in a `<details>` without an empty line after it.
 * - Only spaces are removed from the lines of an indented block. A tab is never split.
 * @example
 * const parser = new FenceParser({
 *   opened: ({ info, line }) => console.log(info, line),
 *   text: (text) => process.stdout.write(text),
 *   closed: () => console.log("The block is complete."),
 *   unclosed: () => console.log("The text ended inside the block."),
 * });
 * parser.push("```ts\nconst a = 1;\n```\n");
 * parser.end();
 */
export class FenceParser {
  readonly #listener: FenceListener;
  #half = "";
  #line = 1;
  #block: Fence | undefined;
  #out = "";

  #stage: "lead" | "markers" | "rest" | "no fence" = "lead";
  #held = "";
  #lead = "";
  #marker: Fence["marker"] = "`";
  #markers = 0;

  constructor(listener: FenceListener) {
    this.#listener = listener;
  }

  push(piece: string): void {
    const text = this.#half + piece;
    const whole = /[\r\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length;
    this.#half = text.slice(whole);
    this.#read(text.slice(0, whole));
    this.#passOn();
  }

  end(): void {
    this.#read(this.#half);
    this.#endLine("");
    this.#passOn();
    if (this.#block) this.#listener.unclosed();
  }

  #read(text: string): void {
    let at = 0;
    for (const { 0: lineEnd, index } of text.matchAll(/\r\n|\n|\r/g)) {
      this.#continueLine(text.slice(at, index));
      this.#endLine(lineEnd);
      at = index + lineEnd.length;
    }
    this.#continueLine(text.slice(at));
  }

  #continueLine(part: string): void {
    if (this.#stage === "no fence") {
      if (this.#block) this.#out += part;
      return;
    }
    this.#held += part;
    for (const char of part) {
      if (this.#mayBeFenceWith(char)) continue;
      this.#stage = "no fence";
      this.#release();
      return;
    }
  }

  #mayBeFenceWith(char: string): boolean {
    if (this.#stage === "lead") {
      if (char === "`" || char === "~") {
        this.#stage = "markers";
        this.#marker = char;
        this.#markers = 1;
        return this.#block ? char === this.#block.marker : LEAD.test(this.#lead);
      }
      this.#lead += char;
      return this.#lead.length <= LONGEST_LEAD && (char === " " || !this.#block);
    }
    if (this.#stage === "markers") {
      if (char === this.#marker) {
        this.#markers += 1;
        return true;
      }
      if (!this.#hasEnoughMarkers()) return false;
      this.#stage = "rest";
    }
    return this.#block ? isBlankCharacter(char) : this.#marker === "~" || char !== "`";
  }

  #hasEnoughMarkers(): boolean {
    return this.#markers >= (this.#block?.length ?? FEWEST_MARKERS);
  }

  #endLine(lineEnd: string): void {
    if (this.#stage !== "no fence" && this.#hasEnoughMarkers()) this.#block ? this.#close() : this.#open();
    else {
      this.#release();
      if (this.#block) this.#out += lineEnd;
    }
    this.#line += 1;
    this.#stage = "lead";
    this.#held = "";
    this.#lead = "";
    this.#markers = 0;
  }

  #open(): void {
    const indent = this.#lead.length;
    const info = trimBlanks(this.#held.slice(indent + this.#markers));
    this.#block = { line: this.#line, marker: this.#marker, length: this.#markers, indent, info };
    this.#listener.opened(this.#block);
  }

  #close(): void {
    this.#passOn();
    this.#block = undefined;
    this.#listener.closed();
  }

  #release(): void {
    if (this.#block) this.#out += withoutFenceIndent(this.#held, this.#block.indent);
    this.#held = "";
  }

  #passOn(): void {
    const text = this.#out;
    this.#out = "";
    if (text !== "") this.#listener.text(text);
  }
}

function isBlankCharacter(char: string | undefined): boolean {
  return char === " " || char === "\t";
}

function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlankCharacter(text[start])) start += 1;
  while (start < end && isBlankCharacter(text[end - 1])) end -= 1;
  return text.slice(start, end);
}

function withoutFenceIndent(line: string, indent: number): string {
  let spaces = 0;
  while (spaces < indent && line[spaces] === " ") spaces += 1;
  return line.slice(spaces);
}

/** The opening fence of a code block. See {@link FenceParser}. */
export interface Fence {
  /** Line number of the opening fence, from 1. */
  readonly line: number;
  readonly marker: "`" | "~";
  /** The number of markers (backticks or tildes), at least 3. A closing fence has at least the same number. */
  readonly length: number;
  /**
   * The number of columns before the fence, 0 to 3. From each line of the block, up to this number of spaces is
   * removed.
   */
  readonly indent: number;
  /** The text after the markers as written, with escapes, but without spaces and tabs around it. */
  readonly info: string;
}

/**
 * Receives the code blocks of a text: `opened`, then `text` any number of times, then `closed` or `unclosed`, for each
 * block. The parser rethrows an error of the listener, and cannot be used afterwards. See {@link FenceParser}.
 */
export interface FenceListener {
  opened(fence: Fence): void;
  /** Gets the next text of the block. Together the pieces are the whole block, with all of its line ends. */
  text(text: string): void;
  closed(): void;
  /** The text of the parser ended before the block was closed. */
  unclosed(): void;
}
