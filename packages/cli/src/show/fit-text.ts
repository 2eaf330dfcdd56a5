import { stripVTControlCharacters } from "node:util";
import { cutTo, cutToEnd } from "@banyan/core/shown";
import { oneLine, plainText } from "./plain-text.ts";

/** Text on one line, cut to `width` characters. */
export function excerpt(text: string, width: number): string {
  // What cannot be shown need not be cleaned: texts here may be megabytes long.
  const line = oneLine(text.slice(0, width * 4));
  const characters = Array.from(line);
  return characters.length <= width && text.length <= width * 4
    ? line
    : cutTo(`${line} `, characters.slice(0, Math.max(1, width - 1)).join("").length);
}

/** The last `count` lines that say something, each cut to `width` characters. */
export function lastLines(text: string, count: number, width: number): string[] {
  return linesWithWords(cutToEnd(text, count * 2_000))
    .slice(-count)
    .map((line) => (line.length > width ? cutTo(line, width - 1) : line));
}

/** The first `count` lines, and how many more there are. */
export function firstLines(text: string, count: number): string {
  const lines = text.split("\n");
  if (lines.length <= count + 1) return text;
  return `${lines.slice(0, count).join("\n")}\n… (${lines.length - count} more lines)`;
}

/** The lines that say something, without what would control a terminal. */
export function linesWithWords(text: string): string[] {
  return plainText(text)
    .split("\n")
    .filter((line) => line.trim() !== "");
}

/**
 * Breaks a sentence of the program's own into lines of at most `width` characters, between words; all are set in as the
 * first one is. Colours count for nothing, and go on in the next line.
 */
export function wrap(sentence: string, width: number): string {
  const [indent = ""] = /^ */.exec(sentence) ?? [];
  let column = indent.length;
  let text = indent;
  for (const [index, word] of sentence.slice(indent.length).split(" ").entries()) {
    const length = stripVTControlCharacters(word).length;
    const fits = column + 1 + length <= width;
    const open = index === 0 || fits ? "" : openIn(text);
    const broken = `${open === "" ? "" : "\x1b[0m"}\n${indent}${open}${word}`;
    text += index === 0 ? word : fits ? ` ${word}` : broken;
    const end = index === 0 ? column + length : fits ? column + 1 + length : indent.length + length;
    // The terminal breaks what is longer than a line, and there is room behind its end.
    column = end > width ? end % width : end;
  }
  return text;
}

/** What begins the colours and weights that are open at the end of a text. */
function openIn(text: string): string {
  const open = new Map<string, string>();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control sequences
  for (const [code, number = ""] of text.matchAll(/\x1b\[([\d;]*)m/g)) {
    if (number === "" || number === "0") open.clear();
    else if (!open.delete(number)) open.set(endOf(number), code);
  }
  return [...open.values()].join("");
}

/** What ends what this begins: `1` (bold) by `22`, a colour of text by `39`, one behind it by `49`. */
function endOf(number: string): string {
  const ends: Readonly<Record<string, string>> = { 1: "22", 2: "22", 3: "23", 4: "24", 7: "27", 9: "29" };
  return ends[number] ?? (/^(?:4\d|10\d)/.test(number) ? "49" : "39");
}

/** A line of the program's own, broken where it is too long; one that is set in, or has several, stays as it is. */
export function sentenceLines(line: string, width: number): string[] {
  return /^\S[^\n]*$/.test(stripVTControlCharacters(line)) ? wrap(line, width).split("\n") : [line];
}
