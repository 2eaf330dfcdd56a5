import { type RowCells, rowChange } from "./row-change.ts";

/** Output that moves the cursor and writes, and the cursor's place. Rows and columns begin at 0. */
export class RowPen {
  bytes = "";
  /** True if cells were blank, or rows moved, for a moment. */
  isUnsteady = false;
  #row: number;
  #column: number | undefined;

  constructor({ row, column }: { readonly row: number; readonly column: number }) {
    this.#row = row;
    this.#column = column;
  }

  /** Moves the cursor. Moves down by line feeds, which scroll the screen at its end and may also go to column 0. */
  moveTo(row: number, column: number): void {
    const kept = row <= this.#row || this.#column === 0 ? this.#column : undefined;
    const from = kept !== undefined && kept <= column ? kept : 0;
    if (from !== kept) this.bytes += "\r";
    this.bytes += row < this.#row ? countedSequence(this.#row - row, "A") : "\n".repeat(row - this.#row);
    if (column > from) this.bytes += countedSequence(column - from, "C");
    this.#row = row;
    this.#column = column;
  }

  /** Adds output that leaves the cursor in a row, by default in the present one; `column` is undefined if unknown. */
  write(bytes: string, column: number | undefined, row = this.#row): void {
    this.bytes += bytes;
    this.#column = column;
    this.#row = row;
  }

  /** Changes rows of the screen from old lines to new ones. Rows below the last one must be empty. */
  change(old: readonly string[], lines: readonly string[], cells: RowCells): void {
    const [added, removed] = [Math.max(0, lines.length - old.length), Math.max(0, old.length - lines.length)];
    const split = added + removed > 0 ? cheapestSplit(old, lines, added, removed) : old.length;
    if (added > 0) this.moveTo(lines.length - 1, 0);
    if (removed > 0 || (added > 0 && split < old.length)) {
      this.moveTo(split, 0);
      this.write(removed > 0 ? countedSequence(removed, "M") : countedSequence(added, "L"), 0);
    }
    this.isUnsteady ||= added + removed > 0;
    for (const [row, line] of lines.entries()) {
      const before = row < split ? old[row] : row < split + added ? "" : old[row - added + removed];
      const change = rowChange(before ?? "", line, cells);
      if (!change) continue;
      this.moveTo(row, change.column);
      this.write(change.bytes, change.end);
      this.isUnsteady ||= change.blanks;
    }
  }
}

/** Returns the row in which inserting or removing rows leaves the fewest characters to write. */
function cheapestSplit(old: readonly string[], lines: readonly string[], added: number, removed: number): number {
  const common = Math.min(old.length, lines.length);
  let cost = 0;
  for (let row = 0; row < common; row++) cost += writingCost(old[row + removed], lines[row + added]);
  for (const line of lines.slice(0, added)) cost += line.length;
  let [best, least] = [0, cost];
  for (let row = 0; row < common; row++) {
    cost += writingCost(old[row], lines[row]) - writingCost(old[row + removed], lines[row + added]);
    if (added > 0) cost += (lines[row + added]?.length ?? 0) - (lines[row]?.length ?? 0);
    if (cost < least) [best, least] = [row + 1, cost];
  }
  return best;
}

function writingCost(old = "", line = ""): number {
  if (old === line) return 0;
  let same = 0;
  while (same < line.length && old[same] === line[same]) same++;
  return MOVE + line.length - same;
}

/** About the bytes of a move to another row. */
const MOVE = 8;

/** A control sequence with a count, which is left out if it is 1. */
export function countedSequence(count: number, final: string): string {
  return count > 0 ? `\x1b[${count === 1 ? "" : count}${final}` : "";
}
