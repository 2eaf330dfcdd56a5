/** The number of tokens of a text. */
export interface TokenCount {
  readonly tokens: number;
  /** True if the model's own tokenizer counted the tokens. If false, the count is only useful for comparisons. */
  readonly isExact: boolean;
}

/** Counts the tokens of a text for one model. */
export type ModelTokenCounter = (text: string) => TokenCount;

/** The tokenizer takes quadratic time for a run of characters without a break. */
const LONGEST_RUN = 1_000;
const LONG_RUN = new RegExp(`\\S{${LONGEST_RUN}}|\\s{${LONGEST_RUN}}`);
const PIECES = new RegExp(`[^]{1,${LONGEST_RUN}}`, "gu");

/** Returns a token counter that loads the model's tokenizer with the first text. */
export function lazyTokenCounter(model: string): (text: string) => Promise<number> {
  let counter: Promise<ModelTokenCounter> | undefined;
  return async (text) => {
    counter ??= tokenCounter(model);
    return (await counter)(text).tokens;
  };
}

/**
 * Returns a token counter for `provider/model`. Loading the tokenizer takes some hundred milliseconds, so call this
 * function only if counts are needed.
 */
export async function tokenCounter(model: string): Promise<ModelTokenCounter> {
  const isOlder = /(?:^|\/)gpt-(?:4(?![.o\d])|3\.5)/.test(model);
  const isExact = /(?:^|\/)(?:gpt-|o\d|chatgpt-|codex-)/.test(model);
  const { countTokens } = isOlder
    ? await import("gpt-tokenizer/encoding/cl100k_base")
    : await import("gpt-tokenizer/encoding/o200k_base");
  // A text that looks like a special token is ordinary text here.
  const count = (text: string) => countTokens(text, { disallowedSpecial: new Set() });
  return (text) => {
    const isLong = LONG_RUN.test(text);
    const pieces = isLong ? (text.match(PIECES) ?? []) : [text];
    return { tokens: pieces.reduce((sum, piece) => sum + count(piece), 0), isExact: isExact && !isLong };
  };
}
