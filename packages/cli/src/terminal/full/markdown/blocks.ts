import { createRequire } from "node:module";
import type { Token, Tokens } from "marked";
import { proseLines, proseWithAddresses, widthOf, wrapped } from "../screen/cells.ts";
import { decodeEntities, inlineText } from "./inline.ts";
import type { Look } from "./look.ts";
import { tableLines } from "./table.ts";

const require = createRequire(import.meta.url);

/**
 * The blocks of a Markdown text. What reads it is loaded with the first one: that takes 10 ms, and nothing is said yet when the
 * interface is drawn for the first time.
 */
export function lexed(markdown: string): Token[] {
  const { lexer } = require("marked") as typeof import("marked");
  return lexer(markdown);
}

/** Some of each kind: the first text takes 25 ms, in which expressions are compiled. */
const SAMPLE = "# a\n\nb *c* `d` [e](f)\n\n- g\n\n> h\n\n```\ni\n```\n\n| j |\n|---|\n| k |\n";

/** Reads a text that nobody wrote, so that the first one that somebody writes is read at once. */
export function readyToLex(): void {
  lexed(SAMPLE);
}

/** The lines of a block, each as wide as the terminal at most; only code and addresses may be wider, unless `cut`. */
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
      return [...codeLabel(lang ?? "", look), ...(cut ? lines.flatMap((line) => wrapped(line, width)) : lines)];
    }
    case "blockquote":
      return prefixed(blocksLines(token.tokens ?? [], Math.max(1, width - 2), look, cut), { all: theme.dim("│ ") });
    case "list":
      return (token as Tokens.List).items.flatMap((item, index) =>
        itemLines(item, numberOf(token as Tokens.List, index), width, look, cut),
      );
    case "table":
      return tableLines(token as Tokens.Table, width, look);
    case "html":
      return decodeEntities(token.raw.trimEnd())
        .split("\n")
        .flatMap((line) => prose(line, width));
    case "def":
      // What refers to it may be final already, or in another block: the address stands here.
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

/** Several blocks, with an empty line between them. */
function blocksLines(tokens: readonly Token[], width: number, look: Look, cut: boolean): string[] {
  const blocks = tokens.map((token) => blockLines(token, width, look, cut)).filter((lines) => lines.length > 0);
  return blocks.flatMap((lines, index) => (index === 0 ? lines : ["", ...lines]));
}

/** The number of an item of a numbered list. */
export function numberOf({ ordered, start }: Tokens.List, index: number): number | undefined {
  return ordered ? Number(start === "" ? 1 : start) + index : undefined;
}

/** The lines of an item of a list; one that stands apart from the next has an empty line behind it. */
export function itemLines(
  item: Tokens.ListItem,
  number: number | undefined,
  width: number,
  look: Look,
  cut = false,
): string[] {
  const bullet = number === undefined ? "• " : `${number}. `;
  const inner = Math.max(1, width - widthOf(bullet));
  const lines: string[] = [];
  let text: Token[] = [];
  const prose = cut ? proseLines : proseWithAddresses;
  const flush = () => {
    if (text.length > 0) lines.push(...prose(inlineText(text, look), inner));
    text = [];
  };
  let isApart = false;
  for (const token of item.tokens) {
    // The mark of a task stands before its text, whether or not that is a paragraph.
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

/** Lines with something before the first, and as many blanks before the others; or with the same before all. */
function prefixed(
  lines: readonly string[],
  { first = "", all }: { readonly first?: string; readonly all?: string },
): string[] {
  const blanks = all ?? " ".repeat(widthOf(first));
  return lines.map((line, index) => {
    const begin = index === 0 ? (all ?? first) : blanks;
    return line === "" ? begin.trimEnd() : begin + line;
  });
}

const INDENT = "  ";
/** Lines before a line of code that say how it is to be painted. */
export const CONTEXT = 100;

/** The line above code with its language, and what else was written there; none when nothing was. */
export function codeLabel(language: string, { theme }: Look): string[] {
  const label = language.trim();
  return label === "" ? [] : [theme.dim(INDENT + label)];
}

/** Lines of code, painted, as they come `before` and after; only those that come after are answered. They are never broken. */
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
  const painted = look.highlight?.(code, nameIn(language))?.slice(context.length) ?? plain;
  return painted.map((line) => (line === "" ? "" : INDENT + line));
}

/** ` ```ts title="x" ` is `ts`. */
function nameIn(language: string): string {
  return /^[^\s{,:]+/.exec(language.trim())?.[0] ?? "";
}
