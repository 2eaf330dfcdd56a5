import { oneLine, plainText } from "./plain-text.ts";

/** Text on one line, cut to `width` characters. */
export function excerpt(text: string, width: number): string {
  // What cannot be shown need not be cleaned: texts here may be megabytes long.
  const line = oneLine(text.slice(0, width * 4));
  const characters = Array.from(line);
  return characters.length <= width && text.length <= width * 4
    ? line
    : `${characters.slice(0, Math.max(1, width - 1)).join("")}…`;
}

/** The last `count` lines that say something, each cut to `width` characters. */
export function lastLines(text: string, count: number, width: number): string[] {
  return linesWithWords(text.slice(-count * 2_000))
    .slice(-count)
    .map((line) => (line.length > width ? `${line.slice(0, width - 1)}…` : line));
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
