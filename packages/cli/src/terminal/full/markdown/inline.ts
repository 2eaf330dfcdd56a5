import type { Token, Tokens } from "marked";
import { plainText } from "../../../show/plain-text.ts";
import { bare } from "../screen/cells.ts";
import type { Look } from "./look.ts";

/** The text of a paragraph, a heading or a cell, with its paint. A line end in it is one that the author wants. */
export function inlineText(tokens: readonly Token[] | undefined, look: Look): string {
  let text = "";
  for (const token of tokens ?? []) text += inlineToken(token, look);
  return text;
}

function inlineToken(token: Token, look: Look): string {
  const { theme } = look;
  switch (token.type) {
    case "strong":
      return theme.bold(inlineText(token.tokens, look));
    case "em":
      return theme.italic(inlineText(token.tokens, look));
    case "del":
      // One tilde is more often "about" than a strike.
      return token.raw.startsWith("~~") ? theme.strike(inlineText(token.tokens, look)) : plain(token.raw);
    case "codespan":
      // Without colours only the marks tell code from words.
      return theme.depth === 1 ? oneLine(token.raw) : theme.code(oneLine(token.text));
    case "link":
      return link(token as Tokens.Link, look);
    case "image":
      if (token.raw.endsWith("]")) return plain(token.raw);
      return theme.dim(`[image: ${plain(token.text)} (${plain(token.href)}${titleOf(token as Tokens.Image)})]`);
    case "br":
      return "\n";
    case "checkbox":
      return token.checked ? "[x] " : "[ ] ";
    case "html":
      return oneLine(token.raw);
    default:
      return "tokens" in token && token.tokens ? inlineText(token.tokens, look) : plain(textIn(token));
  }
}

/** The end of a link that is defined elsewhere: `][label]`, `][]` or `]`. A bracket in a label is escaped. */
const REFERENCE = /\](?:\[(?:\\.|[^[\]\\])*\])?$/s;

/**
 * A link shows where it leads, whatever its text says. One that is defined elsewhere stands as it was written, whether or not
 * the definition has come: the address stands there.
 */
function link(token: Tokens.Link, look: Look): string {
  const { href, tokens, raw } = token;
  const { theme } = look;
  const text = inlineText(tokens, look);
  const [label] = REFERENCE.exec(raw) ?? [];
  if (raw.startsWith("[") && label !== undefined) return `[${text}${plain(label)}`;
  const address = plain(href).replace(/^mailto:/, "");
  const more = (bare(text) === address ? "" : address) + titleOf(token);
  const shown = more === "" ? theme.link(text) : `${theme.link(text)} ${theme.dim(`(${more.trim()})`)}`;
  return look.links && /^[!-~]+$/.test(href) ? `\x1b]8;;${href}\x1b\\${shown}\x1b]8;;\x1b\\` : shown;
}

/** What a page shows when a link or a picture is pointed at. */
function titleOf({ title }: { readonly title?: string | null }): string {
  return title ? ` "${plain(title)}"` : "";
}

function textIn(token: Token): string {
  return "text" in token && typeof token.text === "string" ? token.text : token.raw;
}

function plain(text: string): string {
  return oneLine(decodeEntities(text));
}

/** Lines of the source are not lines of the text; but a note that is written below another one begins a line. */
function oneLine(text: string): string {
  return text.replace(NEW_LINE, (_, note) => (note === undefined ? " " : "\n")).replaceAll("\t", " ");
}

const NEW_LINE = /\s*\n\s*(?=(\[\^?[^[\]\n]+\]:\s)?)/g;

const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

/**
 * Text in which `&lt;`, `&#60;` and the like are the characters that they stand for. No control character comes in that
 * way (S12), also none that the lexer has decoded.
 */
export function decodeEntities(text: string): string {
  const decoded = text.replace(/&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z]+));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return NAMED[name] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
  return plainText(decoded);
}
