import { excerptLine } from "./fit-text.ts";

const LEAST = 8;

/**
 * Formats rows as lines with aligned columns. Columns from `rightFrom` on are aligned to the right, the others to the
 * left. If the table exceeds `width`, the gaps shrink, and then the widest left-aligned columns are cut. If the last
 * column is left-aligned, it can have any length.
 */
export function table(
  rows: readonly (readonly string[])[],
  rightFrom = Number.POSITIVE_INFINITY,
  width = Number.POSITIVE_INFINITY,
): string[] {
  const widths: number[] = [];
  for (const cells of rows)
    for (const [column, cell] of cells.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  const sum = (gap: number) => widths.reduce((all, one) => all + one, gap * (widths.length - 1));
  const gap = sum(3) <= width ? 3 : 1;
  for (let over = sum(gap) - width; over > 0; over = sum(gap) - width) {
    const widest = Math.max(...widths.slice(0, rightFrom));
    if (widest <= LEAST) break;
    widths[widths.indexOf(widest)] = Math.max(LEAST, widest - over);
  }
  return rows.map((cells) =>
    cells
      .map((cell, column) => {
        const room = widths[column] ?? 0;
        return column >= rightFrom
          ? cell.padStart(room)
          : (cell.length > room ? excerptLine(cell, room) : cell).padEnd(room);
      })
      .join(" ".repeat(gap))
      .trimEnd(),
  );
}

/** Formats a local time, such as `2026-08-14 09:05`. */
export function formatTime(at: number): string {
  const time = new Date(at);
  const two = (number: number) => String(number).padStart(2, "0");
  const day = [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join("-");
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}`;
}
