/** A stretch of the source that was read: a word, an assignment, a redirect, the text of a here-document. */
export interface Leaf {
  readonly pos: number;
  readonly end: number;
  readonly kind: "word" | "redirect" | "document";
}

const BETWEEN =
  /[ \t\n;&|(){}!]|\\\n|\[\[|\]\]|(?:time|if|then|else|elif|fi|do|done|for|while|until|in|case|esac|function|select)(?![\w-])/y;

/**
 * Whether the leaves account for all of a source: between them stand only operators, reserved words, blanks and
 * comments. The parser is tolerant and goes on after what it does not expect; what it passed over, or read as another
 * kind of thing than Bash does, would otherwise run unseen.
 */
export function isCovered(source: string, leaves: readonly Leaf[]): boolean {
  let at = 0;
  for (const leaf of leaves.toSorted((a, b) => a.pos - b.pos)) {
    if (passGap(source, at, leaf.pos) !== leaf.pos) return false;
    // Only a redirect may follow a word at once; anything else would be a part of that word.
    if (leaf.pos === at && at > 0 && leaf.kind === "word") return false;
    if (leaf.kind === "document" && source[leaf.pos - 1] !== "\n") return false;
    at = leaf.end;
  }
  return passGap(source, at, source.length) === source.length;
}

/** How far the text from `start` is nothing but what may stand between leaves. */
function passGap(source: string, start: number, end: number): number {
  let at = start;
  while (at < end) {
    if (source[at] === "#") {
      const lineEnd = source.indexOf("\n", at);
      at = lineEnd === -1 ? source.length : lineEnd;
    } else {
      BETWEEN.lastIndex = at;
      if (!BETWEEN.test(source)) return -1;
      at = BETWEEN.lastIndex;
    }
  }
  return at;
}
