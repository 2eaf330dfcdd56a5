/** A part of a shell script that the analysis has read, such as a word or a redirection. */
export interface SourceSpan {
  readonly pos: number;
  readonly end: number;
  readonly kind: "word" | "redirect" | "document";
}

const BETWEEN =
  /[ \t\n;&|(){}!]|\\\n|\[\[|\]\]|(?:time|if|then|else|elif|fi|do|done|for|while|until|in|case|esac|function|select)(?![\w-])/y;

/**
 * Returns whether `leaves` cover the whole script. If not, the tolerant parser has skipped code, and this code would
 * run unseen.
 */
export function coversSource(source: string, leaves: readonly SourceSpan[]): boolean {
  let at = 0;
  for (const leaf of leaves.toSorted((a, b) => a.pos - b.pos)) {
    if (passGap(source, at, leaf.pos) !== leaf.pos) return false;
    // Anything else would be part of the word.
    if (leaf.pos === at && at > 0 && leaf.kind === "word") return false;
    if (leaf.kind === "document" && source[leaf.pos - 1] !== "\n") return false;
    at = leaf.end;
  }
  return passGap(source, at, source.length) === source.length;
}

/** The end of the text that may come between leaves. */
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
