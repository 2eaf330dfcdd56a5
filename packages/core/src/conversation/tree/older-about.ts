import type { About } from "../message.ts";
import type { Json } from "../part.ts";
import { isJsonRecord } from "../shape-problem.ts";

type Texts = Readonly<Record<string, Json | undefined>>;

/** Subjects of calls of Banyan's own tools, by the old names of tools and arguments in logs without `about`. */
const OLDER: ReadonlyMap<string, (input: Texts) => About> = new Map<string, (input: Texts) => About>([
  ["shell", ({ command }) => ({ ...(isNonEmptyText(command) && { command }) })],
  ["read", ({ path }) => ({ ...paths(path, "read"), looksAt: { one: "file", several: "files" } })],
  ["list", ({ path }) => ({ ...paths(path, "read"), looksAt: { one: "folder", several: "folders" } })],
  [
    "search",
    ({ pattern }) => ({
      ...(isNonEmptyText(pattern) && { title: pattern }),
      looksAt: { one: "search", several: "searches" },
    }),
  ],
  ["write", ({ path }) => ({ ...paths(path, "write"), change: { comes: "content" } })],
  ["edit", ({ path }) => ({ ...paths(path, "write"), change: { goes: "old_text", comes: "new_text" } })],
  ["edit_mode", ({ file_path }) => paths(file_path, "write")],
  ["fetch", ({ url }) => ({ ...(isNonEmptyText(url) && { url }), looksAt: { one: "page", several: "pages" } })],
  [
    "web_search",
    ({ query }) => ({
      ...(isNonEmptyText(query) && { title: query }),
      looksAt: { one: "web search", several: "web searches" },
    }),
  ],
  [
    "launch_agent",
    ({ task, agent }) => ({ ...(isNonEmptyText(task) && { title: task }), ...(isNonEmptyText(agent) && { agent }) }),
  ],
  ["finish_task", ({ summary }) => ({ result: "result", ...(isNonEmptyText(summary) && { title: summary }) })],
]);

/** Describes a call in an old log, which has no `about`. Only for display. */
export function olderAbout(tool: string, input: Json | undefined): About | undefined {
  return isJsonRecord<Texts>(input) ? OLDER.get(tool)?.(input) : undefined;
}

function paths(path: Json | undefined, access: "read" | "write"): About {
  return isNonEmptyText(path) ? { paths: [{ path, access }] } : {};
}

function isNonEmptyText(value: Json | undefined): value is string {
  return typeof value === "string" && value !== "";
}
