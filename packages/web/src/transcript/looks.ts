import type { Call } from "@banyan/core/conversation";

/** Tools that only look, and what they look at: one of it, and several. */
const LOOKS: Readonly<Record<string, readonly [one: string, several: string]>> = {
  read: ["file", "files"],
  list: ["folder", "folders"],
  search: ["search", "searches"],
  fetch: ["page", "pages"],
  web_search: ["web search", "web searches"],
};

/** Whether a call only looked, and went well: a failure is never folded away (W30). */
export function isLook({ tool, status }: Call): boolean {
  return tool in LOOKS && status === "completed";
}

/** As in `Read 7 files, 2 searches`. */
export function looksInWords(calls: readonly Call[]): string {
  const counts = new Map<string, number>();
  for (const { tool } of calls) counts.set(tool, (counts.get(tool) ?? 0) + 1);
  const kinds = Object.entries(LOOKS).flatMap(([tool, [one, several]]) => {
    const count = counts.get(tool);
    return count === undefined ? [] : `${count} ${count === 1 ? one : several}`;
  });
  return `Read ${kinds.join(", ")}`;
}
