import { LONGEST_SEQUENCE, SEQUENCE, UNFINISHED } from "./plain-text.ts";

/** Rows that a program still reaches by moving the cursor up, as on a large terminal. What is above them stays as it is. */
const ROWS = 50;
/** UTF-16 units of a row above which it stays as it is. */
const LONGEST_ROW = 64 * 1024;

const TAB = 8;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const ACTING = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;
const PIECES = new RegExp(
  `${SEQUENCE.source}|[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f]|[^\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f]+`,
  "g",
);

interface Row {
  text: string;
  /** Something was written over it, or erased: blanks at its end are what is left of that. */
  isRewritten: boolean;
}

/**
 * An output as a terminal shows it (F82): carriage returns, backspaces, moves of the cursor and erasures are applied, so a progress
 * bar is one line. Other control characters and sequences are left out (S12). A character is one column, and no line is wrapped.
 * Memory is bounded: `push` returns what no later output can change.
 */
export class TerminalScreen {
  #rows: Row[] = [{ text: "", isRewritten: false }];
  #row = 0;
  #column = 0;
  #saved = { row: 0, column: 0 };
  /** The beginning of a sequence that the next piece of output may complete. */
  #held = "";
  /** The last text that was returned has no line end, and the cursor has moved since: what comes does not continue it. */
  #isOpen = false;
  #needsLine = false;

  /** Takes a piece of output, which may be cut anywhere; returns the text that is certain by now. */
  push(output: string): string {
    const all = this.#held + output;
    const open = ACTING.test(all) ? UNFINISHED.exec(all) : null;
    const isHeld = open !== null && open[0] !== "\r" && all.length - open.index <= LONGEST_SEQUENCE;
    this.#held = isHeld ? all.slice(open.index) : "";
    const text = isHeld ? all.slice(0, open.index) : all;
    if (!ACTING.test(text)) return this.#print(text);
    return (text.match(PIECES) ?? [])
      .map((piece) => (ACTING.test(piece) ? this.#act(piece) : this.#print(piece)))
      .join("");
  }

  /** Returns what is shown of the rest, which stays as it is from now on. */
  take(): string {
    const shown = this.#rows.slice(
      0,
      Math.max(
        this.#row,
        this.#rows.findLastIndex(({ text }) => text !== ""),
      ) + 1,
    );
    const last = shown.at(-1);
    const text = textOf(shown.slice(0, -1)) + (last === undefined ? "" : textIn(last));
    const isBehind = this.#row === shown.length - 1 && this.#column === last?.text.length;
    const out = this.#before(text);
    if (text !== "") this.#isOpen = !text.endsWith("\n");
    this.#needsLine = this.#isOpen && (this.#needsLine || !isBehind);
    this.#rows = [{ text: "", isRewritten: false }];
    this.#row = 0;
    this.#column = 0;
    return out;
  }

  /** Text in front of which a line ends, where it does not continue what was returned. */
  #before(text: string): string {
    if (text === "") return "";
    const needsLine = this.#needsLine && !text.startsWith("\n");
    this.#needsLine = false;
    return needsLine ? `\n${text}` : text;
  }

  #print(text: string): string {
    let out = "";
    for (const [index, line] of text.split("\n").entries()) {
      if (index > 0) out += this.#newLine();
      if (line !== "") this.#write(line);
    }
    const row = this.#rows[this.#row];
    return row && row.text.length > LONGEST_ROW ? out + this.take() : out;
  }

  #newLine(): string {
    this.#move(this.#row + 1, 0, ROWS);
    if (this.#rows.length <= ROWS) return "";
    this.#row -= 1;
    const out = this.#before(textOf(this.#rows.splice(0, 1)));
    this.#isOpen = false;
    return out;
  }

  #write(text: string): void {
    const row = this.#rows[this.#row] as Row;
    if (this.#column < row.text.length) {
      const was = expandTabs(row.text);
      const now = expandTabs(text, this.#column);
      row.text = was.slice(0, this.#column) + now + was.slice(this.#column + now.length);
      row.isRewritten = true;
      this.#column += now.length;
      return;
    }
    row.text = row.text.padEnd(this.#column) + text;
    this.#column = row.text.length;
  }

  /** Moves the cursor; rows that it reaches are made, up to `last`. */
  #move(row: number, column: number, last = ROWS - 1): void {
    this.#row = Math.max(0, Math.min(row, last));
    this.#column = Math.max(0, column);
    while (this.#rows.length <= this.#row) this.#rows.push({ text: "", isRewritten: false });
    if (this.#isOpen && this.#row === 0) this.#needsLine = true;
  }

  #act(piece: string): string {
    switch (piece) {
      case "\r":
        this.#move(this.#row, 0);
        return "";
      case "\b":
        this.#move(this.#row, this.#column - 1);
        return "";
      case "\x1b7":
        this.#saved = { row: this.#row, column: this.#column };
        return "";
      case "\x1b8":
        this.#move(this.#saved.row, this.#saved.column);
        return "";
      case "\x1bM":
        this.#move(this.#row - 1, this.#column);
        return "";
    }
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
    const [, parameters = "", command = ""] = /^(?:\x1b\[|\x9b)([\d;]*)([A-Za-z])$/.exec(piece) ?? [];
    const [first = 0, second = 0] = parameters.split(";").map(Number);
    this.#control(command, first, second);
    return "";
  }

  #control(command: string, first: number, second: number): void {
    const count = Math.max(1, first);
    switch (command) {
      case "A":
        return this.#move(this.#row - count, this.#column);
      case "B":
        return this.#move(this.#row + count, this.#column);
      case "C":
        return this.#move(this.#row, this.#column + Math.min(count, LONGEST_ROW));
      case "D":
        return this.#move(this.#row, this.#column - count);
      case "E":
        return this.#move(this.#row + count, 0);
      case "F":
        return this.#move(this.#row - count, 0);
      case "G":
        return this.#move(this.#row, Math.min(count, LONGEST_ROW) - 1);
      case "d":
        return this.#move(count - 1, this.#column);
      case "H":
      case "f":
        return this.#move(count - 1, Math.min(Math.max(1, second), LONGEST_ROW) - 1);
      case "s":
        this.#saved = { row: this.#row, column: this.#column };
        return;
      case "u":
        return this.#move(this.#saved.row, this.#saved.column);
      case "K":
        return this.#erase(this.#rows[this.#row] as Row, first);
      case "J":
        for (const [index, row] of this.#rows.entries()) {
          if (index === this.#row) this.#erase(row, first);
          else if (first === 2 || (first === 0 ? index > this.#row : first === 1 && index < this.#row))
            this.#erase(row, 2);
        }
    }
  }

  /** Erases a row from the cursor on (0), up to it (1), or as a whole (2). */
  #erase(row: Row, how: number): void {
    const text = expandTabs(row.text);
    if (how === 0) row.text = text.slice(0, this.#column);
    if (how === 1) row.text = " ".repeat(Math.min(this.#column + 1, text.length)) + text.slice(this.#column + 1);
    if (how === 2) row.text = "";
    row.isRewritten = true;
    if (this.#isOpen) this.#needsLine = true;
  }
}

function textOf(rows: readonly Row[]): string {
  return rows.map((row) => `${textIn(row)}\n`).join("");
}

function textIn({ text, isRewritten }: Row): string {
  return isRewritten ? text.trimEnd().toWellFormed() : text;
}

/** A text in which the cursor moves over blanks where it has tabs; it begins at a column. */
function expandTabs(text: string, column = 0): string {
  if (!text.includes("\t")) return text;
  let expanded = "";
  for (const [index, part] of text.split("\t").entries()) {
    if (index > 0) expanded += " ".repeat(TAB - ((column + expanded.length) % TAB));
    expanded += part;
  }
  return expanded;
}
