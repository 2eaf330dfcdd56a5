/**
 * Returns at most three candidates similar to `name`, nearest first.
 * @param bound Maximum edit distance of a candidate that does not contain the name.
 * @example nearest("oka", ["oak", "elm"]) // ["oak"]
 */
export function nearest(
  name: string,
  candidates: Iterable<string>,
  bound: number = Math.max(2, Math.floor(name.length / 3)),
): string[] {
  const wanted = name.toLowerCase();
  return [...candidates]
    .map((candidate) => ({ candidate, distance: editDistance(wanted, candidate.toLowerCase()) }))
    .filter(
      ({ candidate, distance }) => distance <= bound || (wanted.length > 2 && candidate.toLowerCase().includes(wanted)),
    )
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

/**
 * Returns advice about an unknown name: "Did you mean oak?", or "There are: oak, elm." if no name is similar.
 * @example nearestNameAdvice("oka", ["oak", "elm"]) // "Did you mean oak?"
 */
export function nearestNameAdvice(name: string, names: readonly string[]): string {
  const near = nearest(name, names);
  if (near.length > 0) return `Did you mean ${near.join(" or ")}?`;
  return names.length === 0 ? "None exist yet." : `There are: ${names.join(", ")}.`;
}

/** Levenshtein distance: the number of insertions, deletions and replacements. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next[j] = Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1);
    }
    row = next;
  }
  return row[b.length] as number;
}
