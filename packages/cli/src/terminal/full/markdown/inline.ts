import type { Token, Tokens } from "marked";
import { plainText } from "../../../show/plain-text.ts";
import { withoutColors } from "../screen/cells.ts";
import type { Look } from "./look.ts";

/** Styles the text of a paragraph, heading or cell. A line end in the result is a hard line break. */
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
      // A single tilde usually means "about".
      return token.raw.startsWith("~~") ? theme.strike(inlineText(token.tokens, look)) : plainInline(token.raw);
    case "codespan":
      // Without colours, only the marks distinguish code.
      return theme.depth === 1 ? unbrokenText(token.raw) : theme.code(unbrokenText(token.text));
    case "link":
      return linkText(token as Tokens.Link, look);
    case "image":
      if (token.raw.endsWith("]")) return plainInline(token.raw);
      return theme.dim(
        `[image: ${plainInline(token.text)} (${plainInline(token.href)}${linkTitle(token as Tokens.Image)})]`,
      );
    case "br":
      return "\n";
    case "checkbox":
      return token.checked ? "[x] " : "[ ] ";
    case "html":
      return unbrokenText(token.raw);
    default:
      return "tokens" in token && token.tokens ? inlineText(token.tokens, look) : plainInline(tokenText(token));
  }
}

/** End of a reference link: `][label]`, `][]` or `]`. Brackets in a label are escaped. */
const REFERENCE = /\](?:\[(?:\\.|[^[\]\\])*\])?$/s;

/** A link always shows its URL. A reference link stays as written, because its definition shows the URL. */
function linkText(token: Tokens.Link, look: Look): string {
  const { href, tokens, raw } = token;
  const { theme } = look;
  const text = inlineText(tokens, look);
  const [label] = REFERENCE.exec(raw) ?? [];
  if (raw.startsWith("[") && label !== undefined) return `[${text}${plainInline(label)}`;
  const address = plainInline(href).replace(/^mailto:/, "");
  const more = (withoutColors(text) === address ? "" : address) + linkTitle(token);
  const shown = more === "" ? theme.link(text) : `${theme.link(text)} ${theme.dim(`(${more.trim()})`)}`;
  return look.links && /^[!-~]+$/.test(href) ? `\x1b]8;;${href}\x1b\\${shown}\x1b]8;;\x1b\\` : shown;
}

function linkTitle({ title }: { readonly title?: string | null }): string {
  return title ? ` "${plainInline(title)}"` : "";
}

function tokenText(token: Token): string {
  return "text" in token && typeof token.text === "string" ? token.text : token.raw;
}

function plainInline(text: string): string {
  return unbrokenText(decodeEntities(text));
}

/** Source line ends become spaces, but a definition of a footnote starts a new line. */
function unbrokenText(text: string): string {
  return text.replace(NEW_LINE, (_, note) => (note === undefined ? " " : "\n")).replaceAll("\t", " ");
}

const NEW_LINE = /\s*\n\s*(?=(\[\^?[^[\]\n]+\]:\s)?)/g;

const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

/** Decodes entities such as `&lt;` and `&#60;`. Removes control characters, also those that the lexer decoded (S12). */
export function decodeEntities(text: string): string {
  const decoded = text.replace(/&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z]+));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return NAMED[name] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
  return plainText(decoded);
}
