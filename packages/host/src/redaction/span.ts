/** A secret in a text: the characters from `start` up to `end`. */
export interface SecretSpan {
  readonly start: number;
  readonly end: number;
  /** The kind of secret, such as `github-token`, or the name of its variable. */
  readonly kind: string;
}

/** Sorts spans. Overlapping spans become one, with the kind of the first in the list. */
export function joinSpans(spans: readonly SecretSpan[]): SecretSpan[] {
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

/** Returns the placeholder for a secret. */
export function placeholder(kind: string): string {
  return `[redacted:${kind}]`;
}

const PLACEHOLDER = /\[redacted:[A-Za-z][\w-]*\]/;

/** Returns why a text must not be written if it contains a placeholder, which would overwrite the secret. */
export function placeholderProblem(text: string): string | undefined {
  const [found] = PLACEHOLDER.exec(text) ?? [];
  if (found === undefined) return undefined;
  return `${found} replaces a secret that you cannot see, so writing it would destroy the secret. Leave this line unchanged, and edit only the text around it; if the secret itself is needed, use the variable or the file that holds it, or ask the user.`;
}
