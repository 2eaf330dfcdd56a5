import type { CommandPart } from "./part.ts";

/** A simple command as its words, one blank between them. */
export function plainText({ assignments, words }: Pick<CommandPart, "assignments" | "words">): string {
  return [...assignments, ...words].join(" ");
}

/** The same with quotes around words that hold blanks or quotes, so that no other words give the same text. */
export function quotedText({ assignments, words }: Pick<CommandPart, "assignments" | "words">): string {
  return [...assignments, ...words]
    .map((word) => (word === "" || /[\s']/.test(word) ? `'${word.replaceAll("'", "'\\''")}'` : word))
    .join(" ");
}
