import { withLevelBound } from "@banyan/client/words";
import { Lexer, type Token, Tokenizer, type TokensList, walkTokens } from "marked";

/** A block of a Markdown text (such as a paragraph), with the link definitions from other blocks that it needs. */
export interface MarkdownBlock {
  readonly raw: string;
  /** Definitions from other blocks that the block may use, to be parsed before the block. */
  readonly before: string;
  /** The labels (`normalizeLabel`) of definitions that a link or image of the text uses, one per line. */
  readonly used: string;
}

/** Parses a Markdown text. */
export function markdownTokens(text: string): TokensList {
  return new Lexer({ gfm: true, tokenizer: withLevelBound(new Tokenizer()) }).lex(text);
}

/**
 * Splits a Markdown text into blocks, in order. Together they are the whole text, with normalised line ends.
 * Definitions of links and footnotes apply to all blocks, wherever they are (W57).
 */
export function markdownBlocks(text: string): readonly MarkdownBlock[] {
  const whole = text.replace(/\r\n?/g, "\n");
  const tokens = markdownTokens(whole);
  const raws = wholeBlocks(whole, tokens);
  const notes = raws.flatMap((raw) => (/^[`~ ]{3}/.test(raw) ? [] : [...raw.matchAll(NOTE)].map(([, label]) => label)));
  const links = Object.entries(tokens.links ?? {});
  const used = links.length === 0 ? "" : usedBy(tokens);
  return raws.map((raw) => {
    if (!raw.includes("[") || links.length + notes.length === 0) return { raw, before: "", used };
    const folded = foldedLabels(raw);
    const mentions = (label: string) => folded.includes(`[${normalizeLabel(label)}]`);
    const before = [
      ...[...new Set(notes)].filter((label = "") => mentions(`^${label}`)).map((label) => `[^${label}]: .`),
      SEPARATOR,
      ...links.filter(([label]) => mentions(label)).map(([label, link]) => definition(label, link)),
    ];
    return { raw, before: before.length === 1 ? "" : `${before.join("\n\n")}\n\n`, used };
  });
}

/** Normalises a label for comparison: without case and extra whitespace. */
export function normalizeLabel(label: string): string {
  return label.replace(/\s+/g, " ").trim().toLowerCase().toUpperCase();
}

const NOTE = /^ {0,3}\[\^([^\]\s]+)\]:/gm;

/** Keeps indented code after a footnote from becoming part of the footnote. */
const SEPARATOR = "<!-- -->";

/** The sources of tokens without gaps: the lexer drops a link's second definition, and splits a footnote into paragraphs. */
function wholeBlocks(text: string, tokens: readonly Token[]): string[] {
  const raws: string[] = [];
  let place = 0;
  for (const { raw } of tokens) {
    const found = text.indexOf(raw, place);
    if (found < 0) continue;
    const gap = text.slice(place, found);
    const last = raws.length - 1;
    if (gap !== "") raws[last < 0 ? 0 : last] = `${raws[last] ?? ""}${gap}`;
    const above = raws.at(-1);
    if (above !== undefined && isGoingOn(above, raw)) raws[raws.length - 1] = above + raw;
    else raws.push(raw);
    place = found + raw.length;
  }
  if (place < text.length) raws[Math.max(0, raws.length - 1)] = `${raws.at(-1) ?? ""}${text.slice(place)}`;
  return raws;
}

function isGoingOn(above: string, raw: string): boolean {
  if (/^\s*<details(\s+open)?>/i.test(above) && !/<\/details>/i.test(above)) return true;
  return /^ {0,3}\[\^[^\]\s]+\]:/.test(above) && /^( {4}|\t|\s*$)/.test(raw);
}

function usedBy(tokens: Token[]): string {
  const labels = new Set<string>();
  // biome-ignore lint/nursery/noFloatingPromises: `walkTokens` returns a promise only if its callback does.
  walkTokens(tokens, (token) => {
    if (token.type !== "link" && token.type !== "image") return;
    const [, label] = /\[((?:[^[\]\\]|\\.)*)\]$/s.exec(token.raw.replace(/\[\]$/, "")) ?? [];
    if (label !== undefined) labels.add(normalizeLabel(label));
  });
  return [...labels].join("\n");
}

function foldedLabels(raw: string): string {
  return normalizeLabel(raw.replace(/\n[\s>]*/g, " ")).replace(/\[ | \]/g, (bracket) => bracket.trim());
}

function definition(label: string, { href, title }: { readonly href: string | null; readonly title?: string | null }) {
  const words = title ? ` "${title.replace(/["\\]/g, "\\$&")}"` : "";
  return `[${label}]: <${(href ?? "").replace(/[<>\\]/g, "\\$&")}>${words}`;
}
