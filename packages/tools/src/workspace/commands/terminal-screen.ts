import { eastAsianWidth } from "get-east-asian-width";
import { LONGEST_SEQUENCE, SEQUENCE, UNFINISHED } from "../files/plain-text.ts";

/** The rows that the cursor can still reach, as on a large terminal. Earlier rows are final. */
const ROWS = 50;
/** UTF-16 units above which a row is final. */
const LONGEST_ROW = 64 * 1024;

const TAB = 8;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const ACTING = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;
const PIECES = new RegExp(
  `${SEQUENCE.source}|[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f]|[^\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f]+`,
  "g",
);

/** Matches text with one column for each UTF-16 unit: Latin letters, and the boxes and blocks of progress bars. */
const NARROW = /^[ -\u02ff\u2500-\u259f]*$/;
const JOINS_THE_CELL_BEFORE = /^[\p{M}\p{Cf}]$/u;

interface ScreenRow {
  text: string;
  width: number;
  /** True if the row was overwritten or erased: trailing blanks are then left over. */
  isRewritten: boolean;
}

/**
 * Renders output like a terminal (F82): applies carriage returns, backspaces, cursor moves and erasures, so a progress
 * bar becomes one line. Other control characters and sequences are removed (S12). Lines are not wrapped. Memory is
 * bounded: `push` returns text that can no longer change.
 */
export class TerminalScreen {
  #rows: ScreenRow[] = [emptyRow()];
  #row = 0;
  #column = 0;
  #saved = { row: 0, column: 0 };
  #held = "";
  /** True after returned text without line end if the cursor has moved since: the next text does not continue that line. */
  #isOpen = false;
  #needsLine = false;

  /** Adds output, which may end anywhere. Returns the text that can no longer change. */
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

  take(): string {
    const shown = this.#rows.slice(
      0,
      Math.max(
        this.#row,
        this.#rows.findLastIndex(({ text }) => text !== ""),
      ) + 1,
    );
    const last = shown.at(-1);
    const text = screenText(shown.slice(0, -1)) + (last === undefined ? "" : rowText(last));
    const isBehind = this.#row === shown.length - 1 && this.#column === last?.width;
    const out = this.#before(text);
    if (text !== "") this.#isOpen = !text.endsWith("\n");
    this.#needsLine = this.#isOpen && (this.#needsLine || !isBehind);
    this.#rows = [emptyRow()];
    this.#row = 0;
    this.#column = 0;
    return out;
  }

  #before(text: string): string {
    if (text === "") return "";
    const needsLine = this.#needsLine && !text.startsWith("\n");
    this.#needsLine = false;
    return needsLine ? `\n${text}` : text;
  }

  #print(text: string): string {
    const [begun, certain, rest] = this.#row === this.#rows.length - 1 ? splitLines(text) : [text, "", ""];
    let out = this.#printLines(begun);
    if (certain !== "") {
      out += this.take() + certain;
      this.#isOpen = false;
    }
    out += this.#printLines(rest);
    const row = this.#rows[this.#row];
    return row && row.text.length > LONGEST_ROW ? out + this.take() : out;
  }

  #printLines(text: string): string {
    let out = "";
    for (const [index, line] of text.split("\n").entries()) {
      if (index > 0) out += this.#newLine();
      if (line !== "") this.#write(line);
    }
    return out;
  }

  #newLine(): string {
    this.#move(this.#row + 1, 0, ROWS);
    if (this.#rows.length <= ROWS) return "";
    this.#row -= 1;
    const out = this.#before(screenText(this.#rows.splice(0, 1)));
    this.#isOpen = false;
    return out;
  }

  #write(text: string): void {
    const row = this.#rows[this.#row] as ScreenRow;
    if (this.#column >= row.width) {
      row.text += " ".repeat(this.#column - row.width) + text;
      row.width = this.#column + columnsFrom(text, this.#column);
      this.#column = row.width;
      return;
    }
    row.isRewritten = true;
    if (NARROW.test(row.text) && NARROW.test(text)) {
      row.text = row.text.slice(0, this.#column) + text + row.text.slice(this.#column + text.length);
      row.width = row.text.length;
      this.#column += text.length;
      return;
    }
    const was = cellsOf(row.text);
    const now = cellsOf(text, upTo(was, this.#column));
    this.#column = now.length;
    setCells(row, [...now, ...from(was, now.length)]);
  }

  #move(row: number, column: number, last = ROWS - 1): void {
    this.#row = Math.max(0, Math.min(row, last));
    this.#column = Math.max(0, column);
    while (this.#rows.length <= this.#row) this.#rows.push(emptyRow());
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
        return this.#erase(this.#rows[this.#row] as ScreenRow, first);
      case "J":
        for (const [index, row] of this.#rows.entries()) {
          if (index === this.#row) this.#erase(row, first);
          else if (first === 2 || (first === 0 ? index > this.#row : first === 1 && index < this.#row))
            this.#erase(row, 2);
        }
    }
  }

  /** Erases a row from the cursor on (0), up to the cursor (1), or completely (2). */
  #erase(row: ScreenRow, how: number): void {
    const cells = how === 2 ? [] : cellsOf(row.text);
    const behind = Math.min(this.#column + 1, cells.length);
    if (how === 0) setCells(row, upTo(cells, this.#column));
    if (how === 1) setCells(row, [...Array<string>(behind).fill(" "), ...from(cells, behind)]);
    if (how === 2) setCells(row, []);
    row.isRewritten = true;
    if (this.#isOpen) this.#needsLine = true;
  }
}

function emptyRow(): ScreenRow {
  return { text: "", width: 0, isRewritten: false };
}

/** Splits long output into its first line, the lines that scroll off at once, and the last rows: most logs move no cursor. */
function splitLines(text: string): [begun: string, certain: string, rest: string] {
  const begun = text.indexOf("\n") + 1;
  let rest = text.length;
  for (let rows = 0; rows < ROWS && rest > begun; rows += 1) rest = text.lastIndexOf("\n", rest - 1);
  return rest > begun ? [text.slice(0, begun), text.slice(begun, rest + 1), text.slice(rest + 1)] : [text, "", ""];
}

function screenText(rows: readonly ScreenRow[]): string {
  return rows.map((row) => `${rowText(row)}\n`).join("");
}

function rowText({ text, isRewritten }: ScreenRow): string {
  return isRewritten ? text.trimEnd() : text;
}

function setCells(row: ScreenRow, cells: readonly string[]): void {
  row.text = cells.join("");
  row.width = cells.length;
}

function columnsFrom(text: string, column: number): number {
  if (NARROW.test(text)) return text.length;
  const before = TAB + (column % TAB);
  return cellsOf(text, Array<string>(before).fill(" ")).length - before;
}

/** Adds text to cells, one per column. A wide character takes two cells, the second of which is empty. A tab becomes blanks. */
function cellsOf(text: string, cells: string[] = []): string[] {
  for (const character of text) {
    if (character === "\t") cells.push(...Array<string>(TAB - (cells.length % TAB)).fill(" "));
    else if (JOINS_THE_CELL_BEFORE.test(character) && cells.length > 0) {
      const before = cells.at(-1) === "" ? cells.length - 2 : cells.length - 1;
      cells[before] += character;
    } else {
      cells.push(character);
      if (!NARROW.test(character) && eastAsianWidth(character.codePointAt(0) ?? 0) === 2) cells.push("");
    }
  }
  return cells;
}

/** Returns the cells before a column. Half of a wide character becomes a blank. */
function upTo(cells: readonly string[], column: number): string[] {
  return cells[column] === "" ? [...cells.slice(0, column - 1), " "] : cells.slice(0, column);
}

function from(cells: readonly string[], column: number): string[] {
  return cells[column] === "" ? [" ", ...cells.slice(column + 1)] : cells.slice(column);
}
