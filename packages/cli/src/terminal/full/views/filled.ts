/** Lines with empty ones below them, so that what follows stands at the bottom. */
export function filled(lines: readonly string[], rows: number): string[] {
  return [...lines, ...Array.from({ length: Math.max(0, rows - lines.length) }, () => "")];
}
