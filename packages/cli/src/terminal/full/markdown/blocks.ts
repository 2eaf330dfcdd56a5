import type { Token, Tokens } from "marked";
import { proseLines, proseWithAddresses, textWidth, wrapCells } from "../screen/cells.ts";
import { decodeEntities, inlineText } from "./inline.ts";
import type { Look } from "./look.ts";
import { tableLines } from "./table.ts";

/** Renders a Markdown block as lines of at most `width` cells. Without `cut`, code and URLs may be wider. */
export function blockLines(token: Token, width: number, look: Look, cut = false): string[] {
  const { theme } = look;
  const prose = cut ? proseLines : proseWithAddresses;
  switch (token.type) {
    case "heading":
      return prefixed(prose(theme.bold(theme.heading(inlineText(token.tokens, look))), width - token.depth - 1), {
        first: theme.dim(`${"#".repeat(token.depth)} `),
      });
    case "hr":
      return [theme.dim("─".repeat(Math.min(width, 40)))];
    case "code": {
      const { text, lang } = token as Tokens.Code;
      const lines = codeLines(text.split("\n"), lang ?? "", look);
      return [...codeLabel(lang ?? "", look), ...(cut ? lines.flatMap((line) => wrapCells(line, width)) : lines)];
    }
    case "blockquote":
      return prefixed(blocksLines(token.tokens ?? [], Math.max(1, width - 2), look, cut), { all: theme.dim("│ ") });
    case "list":
      return (token as Tokens.List).items.flatMap((item, index) =>
        itemLines(item, itemNumber(token as Tokens.List, index), width, look, cut),
      );
    case "table":
      return tableLines(token as Tokens.Table, width, look);
    case "html":
      return decodeEntities(token.raw.trimEnd())
        .split("\n")
        .flatMap((line) => prose(line, width));
    case "def":
      // References to the definition may already be final, so the URL is shown here.
      return prose(decodeEntities(token.raw.trim()).replaceAll(/\s+/g, " "), width);
    case "space":
      return [];
    default:
      return prose(
        "tokens" in token && token.tokens ? inlineText(token.tokens, look) : inlineText([token], look),
        width,
      );
  }
}

function blocksLines(tokens: readonly Token[], width: number, look: Look, cut: boolean): string[] {
  const blocks = tokens.map((token) => blockLines(token, width, look, cut)).filter((lines) => lines.length > 0);
  return blocks.flatMap((lines, index) => (index === 0 ? lines : ["", ...lines]));
}

export function itemNumber({ ordered, start }: Tokens.List, index: number): number | undefined {
  return ordered ? Number(start === "" ? 1 : start) + index : undefined;
}

/** Renders a list item as lines, with a final empty line if the source has an empty line after the item. */
export function itemLines(
  item: Tokens.ListItem,
  number: number | undefined,
  width: number,
  look: Look,
  cut = false,
): string[] {
  const bullet = number === undefined ? "• " : `${number}. `;
  const inner = Math.max(1, width - textWidth(bullet));
  const lines: string[] = [];
  let text: Token[] = [];
  const prose = cut ? proseLines : proseWithAddresses;
  const flush = () => {
    if (text.length > 0) lines.push(...prose(inlineText(text, look), inner));
    text = [];
  };
  let isApart = false;
  for (const token of item.tokens) {
    // The checkbox of a task precedes its text, whether or not the text is a paragraph.
    if (token.type === "checkbox" || token.type === "text") text.push(token);
    else if (token.type === "paragraph" && lines.length === 0 && !isApart) text.push(...(token.tokens ?? []));
    else {
      flush();
      const block = blockLines(token, inner, look, cut);
      if (block.length > 0 && isApart && lines.length > 0) lines.push("");
      lines.push(...block);
    }
    isApart = token.type === "space";
  }
  flush();
  const apart = /\n\s*\n$/.test(item.raw) ? [""] : [];
  return [...prefixed(lines.length > 0 ? lines : [""], { first: look.theme.accent(bullet) }), ...apart];
}

/** Adds a prefix to the first line and equal indentation to the others, or one prefix to all lines. */
function prefixed(
  lines: readonly string[],
  { first = "", all }: { readonly first?: string; readonly all?: string },
): string[] {
  const blanks = all ?? " ".repeat(textWidth(first));
  return lines.map((line, index) => {
    const begin = index === 0 ? (all ?? first) : blanks;
    return line === "" ? begin.trimEnd() : begin + line;
  });
}

const INDENT = "  ";
/** Maximum number of earlier lines that the highlighter gets as context. */
export const CONTEXT = 100;

/** Returns a line above code with its language and other info. Empty without info. */
export function codeLabel(language: string, { theme }: Look): string[] {
  const label = language.trim();
  return label === "" ? [] : [theme.dim(INDENT + label)];
}

/** Highlights lines of code. `before` is context and not returned. Lines are never wrapped. */
export function codeLines(
  lines: readonly string[],
  language: string,
  look: Look,
  before: readonly string[] = [],
): string[] {
  if (lines.length === 0) return [];
  const plain = lines.map((line) => line.replaceAll("\t", "    "));
  const context = before.slice(-CONTEXT).map((line) => line.replaceAll("\t", "    "));
  const code = [...context, ...plain].join("\n");
  const painted = look.highlight?.(code, languageName(language))?.slice(context.length) ?? plain;
  return painted.map((line) => (line === "" ? "" : INDENT + line));
}

/** The language in an info string: `ts` in ` ```ts title="x" `. */
function languageName(language: string): string {
  return /^[^\s{,:]+/.exec(language.trim())?.[0] ?? "";
}
