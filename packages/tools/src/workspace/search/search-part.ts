/** A part of a pattern in JavaScript's syntax. */
export interface Part {
  readonly source: string;
  /** The only text that the part matches, if there is only one; empty for an assertion. */
  readonly exact?: string;
  /** Texts of which every match contains at least one; empty if nothing is known. */
  readonly needs: readonly string[];
  /** True if a quantifier may follow the source directly. */
  readonly unit?: boolean;
}

/** More texts than this exclude hardly any file. */
const MOST_NEEDS = 30;

/** A character of any set of characters. */
export function set(source: string): Part {
  return { source, needs: [], unit: true };
}

export function assertion(source: string): Part {
  return { source, exact: "", needs: [] };
}

export function grouped(part: Part): Part {
  return { ...part, source: `(?:${part.source})`, unit: true };
}

/** Parts that follow each other. Of the texts that every match contains, the longest is kept. */
export function sequence(parts: readonly Part[]): Part {
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

/** Parts of which one matches. */
export function choice(options: readonly Part[]): Part {
  const [only] = options;
  if (only && options.length === 1) return only;
  const needs = options.flatMap((option) => option.needs);
  const isKnown = options.every((option) => option.needs.length > 0) && needs.length <= MOST_NEEDS;
  return { source: options.map(({ source }) => source).join("|"), needs: isKnown ? needs : [] };
}

/** Returns the texts that every match of a part contains, for a part that may be repeated or captured. */
export function needsOf({ exact, needs }: Part): readonly string[] {
  return exact ? [exact] : needs;
}

function shortest(needs: readonly string[]): number {
  return needs.length === 0 ? 0 : Math.min(...needs.map(({ length }) => length));
}
