/** A secret in a text: the characters from `start` up to `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
  /** What it is, in small letters with hyphens, or the name of the variable that holds it. */
  readonly kind: string;
}

/** The spans in order. Those that overlap become one, of the kind that is named first. */
export function joinSpans(spans: readonly Span[]): Span[] {
  const ranked = spans.map((span, rank) => ({ ...span, rank })).sort((a, b) => a.start - b.start || a.rank - b.rank);
  const joined: typeof ranked = [];
  for (const span of ranked) {
    const last = joined.at(-1);
    if (!last || span.start >= last.end) joined.push(span);
    else {
      const { kind, rank } = span.rank < last.rank ? span : last;
      joined[joined.length - 1] = { start: last.start, end: Math.max(last.end, span.end), kind, rank };
    }
  }
  return joined;
}

/** What stands in the place of a secret. */
export function placeholder(kind: string): string {
  return `[redacted:${kind}]`;
}

const PLACEHOLDER = /\[redacted:[A-Za-z][\w-]*\]/;

/**
 * Why a text must not be written anywhere: it holds a placeholder, which would take the place of the secret. Nothing when
 * it holds none.
 */
export function refuse(text: string): string | undefined {
  const [found] = PLACEHOLDER.exec(text) ?? [];
  if (found === undefined) return undefined;
  return `${found} stands for a secret that you are not shown, so writing it would destroy the secret. Leave the line with it as it is, and change only what is around it; where the secret itself is needed, use the variable or the file that holds it, or ask the user.`;
}
