import type { About, Json } from "../message.ts";

/** The texts among the arguments of a call, by their names. */
type Texts = Readonly<Record<string, Json | undefined>>;

/** What the calls of Banyan's own tools are about, by the names that tools and arguments had when logs did not say it. */
const OLDER: ReadonlyMap<string, (input: Texts) => About> = new Map<string, (input: Texts) => About>([
  ["shell", ({ command }) => ({ ...(isText(command) && { command }) })],
  ["read", ({ path }) => ({ ...paths(path, "read"), looksAt: { one: "file", several: "files" } })],
  ["list", ({ path }) => ({ ...paths(path, "read"), looksAt: { one: "folder", several: "folders" } })],
  [
    "search",
    ({ pattern }) => ({ ...(isText(pattern) && { title: pattern }), looksAt: { one: "search", several: "searches" } }),
  ],
  ["write", ({ path }) => ({ ...paths(path, "write"), change: { comes: "content" } })],
  ["edit", ({ path }) => ({ ...paths(path, "write"), change: { goes: "old_text", comes: "new_text" } })],
  ["edit_mode", ({ file_path }) => paths(file_path, "write")],
  ["fetch", ({ url }) => ({ ...(isText(url) && { url }), looksAt: { one: "page", several: "pages" } })],
  [
    "web_search",
    ({ query }) => ({
      ...(isText(query) && { title: query }),
      looksAt: { one: "web search", several: "web searches" },
    }),
  ],
  ["launch_agent", ({ task, agent }) => ({ ...(isText(task) && { title: task }), ...(isText(agent) && { agent }) })],
  ["finish_task", ({ summary }) => ({ result: "result", ...(isText(summary) && { title: summary }) })],
]);

/**
 * What a call is about of which its log does not say it: one of before tools said so, or one that ended before it was
 * judged. It is for drawing alone; what is judged, asked about and run is what a tool says itself.
 */
export function olderAbout(tool: string, input: Json | undefined): About | undefined {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return undefined;
  return OLDER.get(tool)?.(input as Texts);
}

function paths(path: Json | undefined, access: "read" | "write"): About {
  return isText(path) ? { paths: [{ path, access }] } : {};
}

function isText(value: Json | undefined): value is string {
  return typeof value === "string" && value !== "";
}
