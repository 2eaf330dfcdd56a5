/** Sentences of a text that take a second reading, by the two rules that can be counted. */
export interface PlainProse {
  /** How many sentences the text has. Cells of tables, items of lists and headings count as sentences. */
  readonly sentences: number;
  /** Sentences that begin with a relative clause: "What a crash left is read again." */
  readonly clauseFirst: readonly string[];
  /** Sentences of which a third are words that only point at something: "It says so of that which is none." */
  readonly pointing: readonly string[];
}

const FIRST = /^(?:(?:[Ww]hat|[Ww]hatever|[Ww]here|[Ww]hether|[Ww]hich|[Ww]ho|[Ww]hoever|[Ww]hose|Of|That)\b)/;

/** Words that name nothing themselves. The reader has to find what they point at. */
const POINTING = new Set(
  [
    ["it", "that", "this", "these", "those", "there", "such", "so", "one", "ones", "none", "nobody", "somebody"],
    ["what", "who", "whoever", "whatever", "which", "whose", "of", "anew", "otherwise", "beside"],
    ["say", "says", "said", "tell", "tells", "told", "stand", "stands", "stood"],
  ].flat(),
);

/** Short sentences are not judged: they have no room for a riddle, and one word more or less decides about them. */
const LEAST = { clauseFirst: 4, pointing: 8 };

/** Judges the prose of a Markdown text. Code blocks are left out; code within a sentence counts as one word. */
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

/** Paragraphs, headings, items of lists and cells of tables, each on one line. */
function partsOf(markdown: string): string[] {
  const prose = markdown.replaceAll(/^( *)```[\s\S]*?^\1```$/gm, "").replaceAll(/<!--[\s\S]*?-->/g, "");
  return prose
    .replaceAll(/\]\([^)]*\)/g, "]")
    .split(/\n\s*\n|\n(?=\s*(?:[-*|#>]|\d+\. ))/)
    .flatMap((part) => (/^\s*\|/.test(part) ? part.split(/(?<!\\)\|/) : part.replace(/^\s*(?:[-*#>]+|\d+\.) /, "")))
    .map((part) => part.replaceAll(/\s+/g, " ").trim());
}
