/** How many tokens a text has. */
export interface TokenCount {
  readonly tokens: number;
  /** Counted with the model's own tokenizer; else with that of another, which is near enough to compare parts. */
  readonly isExact: boolean;
}

/** Counts the tokens of texts for one model. */
export type CountTokens = (text: string) => TokenCount;

/** A run of characters without a break takes the tokenizer a time that grows with its square: it gets no more than this. */
const LONGEST_RUN = 1_000;
const LONG_RUN = new RegExp(`\\S{${LONGEST_RUN}}|\\s{${LONGEST_RUN}}`);
const PIECES = new RegExp(`[^]{1,${LONGEST_RUN}}`, "gu");

/** Tokens of a text for a model, for whoever may never have to know: the tokenizer is loaded with the first text. */
export function lazyTokenCounter(model: string): (text: string) => Promise<number> {
  let counter: Promise<CountTokens> | undefined;
  return async (text) => {
    counter ??= tokenCounter(model);
    return (await counter)(text).tokens;
  };
}

/**
 * A counter for a model, named as `provider/model`. It loads the tokenizer, which takes some hundred milliseconds: only
 * who shows counts should ask.
 */
export async function tokenCounter(model: string): Promise<CountTokens> {
  const isOlder = /(?:^|\/)gpt-(?:4(?![.o\d])|3\.5)/.test(model);
  const isExact = /(?:^|\/)(?:gpt-|o\d|chatgpt-|codex-)/.test(model);
  const { countTokens } = isOlder
    ? await import("gpt-tokenizer/encoding/cl100k_base")
    : await import("gpt-tokenizer/encoding/o200k_base");
  // What looks like a special token is text to whoever wrote it.
  const count = (text: string) => countTokens(text, { disallowedSpecial: new Set() });
  return (text) => {
    const isLong = LONG_RUN.test(text);
    const pieces = isLong ? (text.match(PIECES) ?? []) : [text];
    return { tokens: pieces.reduce((sum, piece) => sum + count(piece), 0), isExact: isExact && !isLong };
  };
}
