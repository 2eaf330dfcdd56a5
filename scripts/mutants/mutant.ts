/** A changed line of the product that breaks a promise: a test must fail. */
export interface Mutant {
  readonly file: string;
  readonly line: string;
  /** The number of the occurrence, from 1, if the line occurs several times. */
  readonly nth?: number;
  readonly instead: string;
  /** Test files of which at least one must fail, relative to the project's root. */
  readonly tests: readonly string[];
}

/** Throws if the line is missing or ambiguous. */
export function mutated(source: string, { file, line, nth, instead }: Mutant): string {
  const pieces = source.split(line);
  const found = pieces.length - 1;
  if (found < (nth ?? 1) || (nth === undefined && found > 1)) {
    throw new Error(`${file} has ${found} times "${line}": say in scripts/mutants/list.ts what is meant.`);
  }
  const before = pieces.slice(0, nth ?? 1).join(line);
  return before + instead + pieces.slice(nth ?? 1).join(line);
}
