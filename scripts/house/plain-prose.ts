/** Sentences that take a second reading, by two countable rules. */
export interface PlainProse {
  readonly sentences: number;
  /** Sentences that begin with a relative clause: "What a crash left is read again." */
  readonly clauseFirst: readonly string[];
  /** Sentences with a third of pointing words: "It says so of that which is none." */
  readonly pointing: readonly string[];
}

const FIRST = /^(?:(?:[Ww]hat|[Ww]hatever|[Ww]here|[Ww]hether|[Ww]hich|[Ww]ho|[Ww]hoever|[Ww]hose|Of|That)\b)/;

const POINTING = new Set(
  [
    ["it", "that", "this", "these", "those", "there", "such", "so", "one", "ones", "none", "nobody", "somebody"],
    ["what", "who", "whoever", "whatever", "which", "whose", "of", "anew", "otherwise", "beside"],
    ["say", "says", "said", "tell", "tells", "told", "stand", "stands", "stood"],
  ].flat(),
);

/** Shorter sentences are not judged: a single word would decide. */
const LEAST = { clauseFirst: 4, pointing: 8 };

/** Judges the prose of a Markdown text. Code blocks are left out, and code in a sentence counts as one word. */
export function readProse(markdown: string): PlainProse {
  const sentences = partsOf(markdown).flatMap((part) => part.split(/(?<=[.!?;:])\s+(?=[\p{Lu}`])/u));
  const judged = sentences.map((sentence) => ({ sentence, words: wordsOf(sentence) }));
  const names = ({ words }: { words: readonly string[] }) => words.length >= LEAST.clauseFirst;
  return {
    sentences: judged.filter(names).length,
    clauseFirst: judged
      .filter((each) => names(each) && FIRST.test(each.sentence.replace(/^\*+/, "")) && !each.sentence.endsWith("?"))
      .map(({ sentence }) => sentence),
    pointing: judged
      .filter(({ words }) => words.length >= LEAST.pointing && shareOf(words) >= 1 / 3)
      .map(({ sentence }) => sentence),
  };
}

function shareOf(words: readonly string[]): number {
  return words.filter((word) => POINTING.has(word)).length / words.length;
}

function wordsOf(sentence: string): string[] {
  return (sentence.replaceAll(/`[^`]*`/g, "code").match(/[\p{L}\p{N}][\p{L}\p{N}'-]*/gu) ?? []).map((word) =>
    word.toLowerCase(),
  );
}

function partsOf(markdown: string): string[] {
  const prose = markdown.replaceAll(/^( *)```[\s\S]*?^\1```$/gm, "").replaceAll(/<!--[\s\S]*?-->/g, "");
  return prose
    .replaceAll(/\]\([^)]*\)/g, "]")
    .split(/\n\s*\n|\n(?=\s*(?:[-*|#>]|\d+\. ))/)
    .flatMap((part) => (/^\s*\|/.test(part) ? part.split(/(?<!\\)\|/) : part.replace(/^\s*(?:[-*#>]+|\d+\.) /, "")))
    .map((part) => part.replaceAll(/\s+/g, " ").trim());
}

/** The comments of a TypeScript source, without marks, examples, notes to tools, and comments after code. */
export function commentsOf(source: string): string[] {
  const blocks = source.matchAll(/^[ \t]*\/\*\*?([\s\S]*?)\*\/|(?:^[ \t]*\/\/.*(?:\n|$))+/gm);
  return [...blocks]
    .map(([whole, block]) => (block ?? whole).replaceAll(/^[ \t]*(?:\/\/|\*)? ?/gm, ""))
    .map((text) =>
      text
        .replace(/(?:^|\n)@example[\s\S]*/, "")
        .replaceAll(/^(?:biome-ignore|@ts-).*\n?/gm, "")
        .trim(),
    )
    .filter((text) => text !== "");
}
