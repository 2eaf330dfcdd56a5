/** What a message names without an `@`, so that it does not go along: addresses of pages, and patterns of files (T15). */
export function attachableIn(text: string): string[] {
  const words = text.split(/\s+/).map((word) => word.replace(/[.,;:!?)]+$/, ""));
  return [...new Set(words)].filter((word) => /^https?:\/\/./.test(word) || isPattern(word));
}

/** Of these the one that is being written: the last word of a text. */
export function attachableAtEnd(text: string): string | undefined {
  const word = text.split(/\s/).at(-1) ?? "";
  return attachableIn(word)[0];
}

/** `src/*.ts`, `*.md`, and not `**emphasis**` or `2*3`. */
function isPattern(word: string): boolean {
  return /^[\w.~/*{},-]+$/.test(word) && word.includes("*") && /[./]/.test(word) && !/^\*+[^*]+\*+$/.test(word);
}
