import { plainText } from "../../../show/plain-text.ts";

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
