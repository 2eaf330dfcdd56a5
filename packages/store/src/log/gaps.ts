/** Groups consecutive numbers, and returns the first and last number of each group. */
export function gaps(numbers: Iterable<number>): [first: number, last: number][] {
  const runs: [number, number][] = [];
  for (const number of Array.from(numbers).sort((a, b) => a - b)) {
    const run = runs.at(-1);
    if (run && run[1] === number - 1) run[1] = number;
    else runs.push([number, number]);
  }
  return runs;
}
