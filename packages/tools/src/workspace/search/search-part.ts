/** A part of a search pattern in JavaScript syntax. */
export interface PatternPart {
  readonly source: string;
  /** The only text that the part matches, if there is just one; empty for an assertion. */
  readonly exact?: string;
  readonly needs: readonly string[];
  /** True if a quantifier may follow the source directly. */
  readonly unit?: boolean;
}

const MOST_NEEDS = 30;

/** Returns a pattern part that matches one character of a set. */
export function set(source: string): PatternPart {
  return { source, needs: [], unit: true };
}

export function assertion(source: string): PatternPart {
  return { source, exact: "", needs: [] };
}

export function grouped(part: PatternPart): PatternPart {
  return { ...part, source: `(?:${part.source})`, unit: true };
}

/** Joins consecutive pattern parts. Keeps the longest text that every match contains. */
export function sequence(parts: readonly PatternPart[]): PatternPart {
  let best: readonly string[] = [];
  const consider = (needs: readonly string[]) => {
    if (shortest(needs) > shortest(best)) best = needs;
  };
  let run = "";
  for (const part of parts) {
    if (part.exact === undefined) {
      consider(part.needs);
      consider([run]);
      run = "";
    } else run += part.exact;
  }
  consider([run]);
  const source = parts.map((part) => part.source).join("");
  return { source, needs: best, ...(parts.every(({ exact }) => exact !== undefined) && { exact: run }) };
}

/** Joins alternative pattern parts. */
export function choice(options: readonly PatternPart[]): PatternPart {
  const [only] = options;
  if (only && options.length === 1) return only;
  const needs = options.flatMap((option) => option.needs);
  const isKnown = options.every((option) => option.needs.length > 0) && needs.length <= MOST_NEEDS;
  return { source: options.map(({ source }) => source).join("|"), needs: isKnown ? needs : [] };
}

/** Returns the texts that every match of a repeated or captured part contains. */
export function needsOf({ exact, needs }: PatternPart): readonly string[] {
  return exact ? [exact] : needs;
}

function shortest(needs: readonly string[]): number {
  return needs.length === 0 ? 0 : Math.min(...needs.map(({ length }) => length));
}
