/** A line of the product, changed so that it breaks a promise: a test must notice. */
export interface Mutant {
  /** From the project's root. */
  readonly file: string;
  readonly line: string;
  /** Which one, counted from 1, when the line stands there more than once. */
  readonly nth?: number;
  readonly instead: string;
  /** The test files of which one must notice, from the project's root. */
  readonly tests: readonly string[];
}

/** The source with its line changed. Throws when the line does not stand there, or when it is not clear which one is meant. */
export function mutated(source: string, { file, line, nth, instead }: Mutant): string {
  const pieces = source.split(line);
  const found = pieces.length - 1;
  if (found < (nth ?? 1) || (nth === undefined && found > 1)) {
    throw new Error(`${file} has ${found} times "${line}": say in scripts/mutants/list.ts what is meant.`);
  }
  const before = pieces.slice(0, nth ?? 1).join(line);
  return before + instead + pieces.slice(nth ?? 1).join(line);
}
