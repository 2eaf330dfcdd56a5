/** Lists and quotations within each other. Deeper levels are text, because parsers take minutes for hundreds of levels. */
const MOST_LEVELS = 20;

/** The two rules of `marked` that parse blocks within blocks. */
interface NestedRules {
  blockquote(source: string): unknown;
  list(source: string): unknown;
}

/**
 * Bounds the levels of lists and quotations that a tokenizer of `marked` parses. Text on deeper levels keeps its marks
 * (T22). Changes the tokenizer, and returns it. Make a tokenizer for each text.
 * @example const rules = withLevelBound({ blockquote: (source: string) => [source], list: (source: string) => [source] });
 */
export function withLevelBound<Rules extends NestedRules>(tokenizer: Rules): Rules {
  let levels = 0;
  const bounded = <T>(rule: (source: string) => T) => {
    return (source: string): T | undefined => {
      if (levels === MOST_LEVELS) return undefined;
      levels++;
      const token = rule.call(tokenizer, source);
      levels--;
      return token;
    };
  };
  return Object.assign(tokenizer, { blockquote: bounded(tokenizer.blockquote), list: bounded(tokenizer.list) });
}
