import { proseLines, proseWithAddresses, withoutColors } from "../screen/cells.ts";
import { inlineText } from "./inline.ts";
import { type Look, lexMarkdown } from "./look.ts";

/** The beginning of a paragraph as lines, and the rest of its source. */
export interface Split {
  readonly lines: readonly string[];
  readonly rest: string;
}

/**
 * Splits a paragraph that is too long at a line end, but not inside emphasis, links or code. Undefined if impossible.
 */
export function splitParagraph(source: string, width: number, room: number, look: Look): Split | undefined {
  const whole = paragraph(source, look);
  if (whole === undefined) return undefined;
  const count = proseLines(whole, width).length;
  if (count <= room) return undefined;
  const breaks = [...source.matchAll(/\s+/g)].map(({ index }) => index);
  // Keep half of the room for the streaming rest.
  for (let wanted = count - Math.ceil(room / 2); wanted > 0; wanted--) {
    const at = lastThatFits(source, breaks, wanted, width, look);
    if (at === undefined) return undefined;
    const [front, rest] = [source.slice(0, at), source.slice(at).trimStart()];
    const [first, second] = [paragraph(front, look), paragraph(rest, look)];
    if (first === undefined || second === undefined) continue;
    if (normalizedWords(`${first} ${second}`) === normalizedWords(whole))
      return { lines: proseWithAddresses(first, width), rest };
  }
  return undefined;
}

/** The last break before which the text has at most `wanted` lines. */
function lastThatFits(
  source: string,
  breaks: readonly number[],
  wanted: number,
  width: number,
  look: Look,
): number | undefined {
  let [low, high] = [0, breaks.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const text = paragraph(source.slice(0, breaks[middle]), look);
    if (text !== undefined && proseLines(text, width).length <= wanted) low = middle + 1;
    else high = middle;
  }
  return low > 0 ? breaks[low - 1] : undefined;
}

function paragraph(source: string, look: Look): string | undefined {
  const [token, ...others] = lexMarkdown(source.trim());
  return token?.type === "paragraph" && others.length === 0 ? inlineText(token.tokens, look) : undefined;
}

function normalizedWords(text: string): string {
  return withoutColors(text).replace(/\s+/g, " ").trim();
}
