import { stripVTControlCharacters } from "node:util";
import { cutTo, cutToEnd } from "@banyan/core/shown";
import { plainLine, plainText } from "./plain-text.ts";

/** Returns text on one line, cut to `width` characters. */
export function excerptLine(text: string, width: number): string {
  // Cut before cleaning: texts here may have megabytes.
  const line = plainLine(text.slice(0, width * 4));
  const characters = Array.from(line);
  return characters.length <= width && text.length <= width * 4
    ? line
    : cutTo(`${line} `, characters.slice(0, Math.max(1, width - 1)).join("").length);
}

/** Returns the last `count` lines that are not blank, each cut to `width` characters. */
export function lastLines(text: string, count: number, width: number): string[] {
  return linesWithWords(cutToEnd(text, count * 2_000))
    .slice(-count)
    .map((line) => (line.length > width ? cutTo(line, width - 1) : line));
}

/** Returns the first `count` lines, and the number of further lines. */
export function firstLines(text: string, count: number): string {
  const lines = text.split("\n");
  if (lines.length <= count + 1) return text;
  return `${lines.slice(0, count).join("\n")}\n… (${lines.length - count} more lines)`;
}

/** Returns the lines that are not blank, without control characters. */
export function linesWithWords(text: string): string[] {
  return plainText(text)
    .split("\n")
    .filter((line) => line.trim() !== "");
}

/**
 * Wraps a sentence that the program wrote, between words, at `width` characters. Later lines have the indentation of
 * the first line. Escape sequences for colours have no width, and colours continue on the next line.
 */
export function wrapSentence(sentence: string, width: number): string {
  const [indent = ""] = /^ */.exec(sentence) ?? [];
  let column = indent.length;
  let text = indent;
  for (const [index, word] of sentence.slice(indent.length).split(" ").entries()) {
    const length = stripVTControlCharacters(word).length;
    const fits = column + 1 + length <= width;
    const open = index === 0 || fits ? "" : openStylesIn(text);
    const broken = `${open === "" ? "" : "\x1b[0m"}\n${indent}${open}${word}`;
    text += index === 0 ? word : fits ? ` ${word}` : broken;
    const end = index === 0 ? column + length : fits ? column + 1 + length : indent.length + length;
    // The terminal breaks a word that exceeds the line, and text continues after its end.
    column = end > width ? end % width : end;
  }
  return text;
}

function openStylesIn(text: string): string {
  const open = new Map<string, string>();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control sequences
  for (const [code, number = ""] of text.matchAll(/\x1b\[([\d;]*)m/g)) {
    if (number === "" || number === "0") open.clear();
    else if (!open.delete(number)) open.set(styleReset(number), code);
  }
  return [...open.values()].join("");
}

/** The code that ends a code: `22` ends `1` (bold), `39` a text colour, `49` a background. */
function styleReset(number: string): string {
  const ends: Readonly<Record<string, string>> = { 1: "22", 2: "22", 3: "23", 4: "24", 7: "27", 9: "29" };
  return ends[number] ?? (/^(?:4\d|10\d)/.test(number) ? "49" : "39");
}

/** Wraps a line that the program wrote. Indented or multi-line text stays unchanged. */
export function sentenceLines(line: string, width: number): string[] {
  return /^\S[^\n]*$/.test(stripVTControlCharacters(line)) ? wrapSentence(line, width).split("\n") : [line];
}
