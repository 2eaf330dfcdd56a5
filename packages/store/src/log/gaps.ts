/** Returns a sentence for each group of consecutive events that were skipped. `log`: the name of their log. */
export function skippedEvents(numbers: Iterable<number>, log: string): string[] {
  return gaps(numbers).map(([first, last]) =>
    first === last
      ? `Event ${first} of ${log} is damaged and was skipped.`
      : `Events ${first} to ${last} of ${log} are damaged and were skipped.`,
  );
}

/** Groups consecutive numbers, and returns the first and last number of each group. */
function gaps(numbers: Iterable<number>): [first: number, last: number][] {
  const runs: [number, number][] = [];
  for (const number of Array.from(numbers).sort((a, b) => a - b)) {
    const run = runs.at(-1);
    if (run && run[1] === number - 1) run[1] = number;
    else runs.push([number, number]);
  }
  return runs;
}
