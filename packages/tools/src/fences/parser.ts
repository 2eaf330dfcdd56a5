/** What may stand before an opening fence: spaces, or the marker of a list item. */
const LEAD = /^(?: *| ?[-+*] |[-+*] {2}|\d[.)] )$/;
/** In columns. */
const LONGEST_LEAD = 3;
const FEWEST_MARKERS = 3;

/**
 * Finds the fenced code blocks of a Markdown text that arrives in pieces of any size (CommonMark 0.31, section 4.5), and
 * passes their text on while it arrives. Only a line that may still be a fence is held back, never a block; each
 * character is looked at once. Line ends (LF, CRLF, CR) are kept as they are. A piece may end anywhere, also within a
 * CRLF or a surrogate pair.
 *
 * It knows fences and no other Markdown. So it differs from CommonMark where something is around a fence:
 *
 * - In a list, a fence counts when at most three columns stand before it, with those of its item's marker (`- `, `1. `).
 *   Only a closing fence ends the block, not a line that leaves the list.
 * - In a block quote, or further to the right, nothing is a fence.
 * - HTML hides no fence, whether it is a comment or a `<details>` without an empty line after it.
 * - Of the lines of an indented block only spaces are taken away; a tab is never cut in pieces.
 */
export class FenceParser {
  readonly #listener: FenceListener;
  /** The end of the last piece when it may be half of a CRLF or of a surrogate pair. */
  #half = "";
  #line = 1;
  #block: Fence | undefined;
  /** Text of the block that the listener does not have yet. */
  #out = "";

  // The line under way:
  #stage: "lead" | "markers" | "rest" | "no fence" = "lead";
  /** All of it so far, while it may be a fence. */
  #held = "";
  #lead = "";
  #marker: Fence["marker"] = "`";
  #markers = 0;

  constructor(listener: FenceListener) {
    this.#listener = listener;
  }

  /** Takes the next piece of the text. */
  push(piece: string): void {
    const text = this.#half + piece;
    const whole = /[\r\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length;
    this.#half = text.slice(whole);
    this.#read(text.slice(0, whole));
    this.#passOn();
  }

  /** Takes the end of the text. The last line needs no line end, also when it closes a block. */
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

  /** Whether the line may be a fence, up to this character of it. */
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
    return this.#block ? isBlank(char) : this.#marker === "~" || char !== "`";
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

  /** What was held back is text after all. */
  #release(): void {
    if (this.#block) this.#out += withoutIndent(this.#held, this.#block.indent);
    this.#held = "";
  }

  #passOn(): void {
    const text = this.#out;
    this.#out = "";
    if (text !== "") this.#listener.text(text);
  }
}

function isBlank(char: string | undefined): boolean {
  return char === " " || char === "\t";
}

function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text[start])) start += 1;
  while (start < end && isBlank(text[end - 1])) end -= 1;
  return text.slice(start, end);
}

function withoutIndent(line: string, indent: number): string {
  let spaces = 0;
  while (spaces < indent && line[spaces] === " ") spaces += 1;
  return line.slice(spaces);
}

/** What a fence says where it opens a block. */
export interface Fence {
  /** Of the opening fence in the text, 1-based. */
  readonly line: number;
  readonly marker: "`" | "~";
  /** How many markers there are, at least 3. What closes the block has at least as many. */
  readonly length: number;
  /** The columns before the fence, 0 to 3. As many spaces are taken from the beginning of each line of the block. */
  readonly indent: number;
  /** What follows the markers, without spaces and tabs around it; otherwise as it was written, escapes and all. */
  readonly info: string;
}

/**
 * Hears of fenced blocks as they arrive: `opened`, `text` any number of times, and at last either `closed` or
 * `unclosed`; then perhaps the next block. What a listener throws comes out of the parser, which is then of no more use.
 */
export interface FenceListener {
  opened(fence: Fence): void;
  /** What came next of the block. All of it, put together, is the block's text with its line ends, also the last one. */
  text(text: string): void;
  closed(): void;
  /** The text ended inside the block. */
  unclosed(): void;
}
