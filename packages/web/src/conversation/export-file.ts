import type { Command } from "@banyan/protocol";
import type { Page } from "../page.ts";

/** What a conversation can be exported as. */
export const FORMATS = [
  { format: "json", name: "JSON", holds: "the whole tree; can be imported" },
  { format: "markdown", name: "Markdown", holds: "this branch" },
  { format: "html", name: "HTML", holds: "a page of its own" },
] as const;

/**
 * Has the browser keep a conversation as a file. It comes over the page's connection: an address that gives it to whoever
 * opens it would be one that others can open too (S20).
 */
export async function exportFile({ connection }: Page, wanted: Omit<Command<"conversation.export">, "type" | "id">) {
  const { name, mediaType, text } = await connection.ask("conversation.export", wanted);
  const address = URL.createObjectURL(new Blob([text], { type: mediaType }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The browser has begun to keep it by then.
  setTimeout(() => URL.revokeObjectURL(address), KEPT_FOR);
}

/** Milliseconds. */
const KEPT_FOR = 60_000;
