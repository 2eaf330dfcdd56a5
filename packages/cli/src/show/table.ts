/**
 * Rows as lines of columns, each as wide as its widest cell. Columns are set to the left, or to the right from column
 * `rightFrom` on; the last one, set to the left, may be of any length.
 */
export function table(rows: readonly (readonly string[])[], rightFrom = Number.POSITIVE_INFINITY): string[] {
  const widths: number[] = [];
  for (const cells of rows)
    for (const [column, cell] of cells.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  return rows.map((cells) =>
    cells
      .map((cell, column) =>
        column >= rightFrom ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join("   ")
      .trimEnd(),
  );
}
