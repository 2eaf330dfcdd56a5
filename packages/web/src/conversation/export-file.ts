import type { Command } from "@banyan/protocol";
import type { Page } from "../page.ts";
import { t } from "../phrases/phrases.ts";
import { saveFile } from "../shell/save-file.ts";

/** What a conversation can be exported as. */
export const FORMATS = [
  { format: "json", name: "JSON", holds: t("all branches; can be imported") },
  { format: "markdown", name: "Markdown", holds: t("this branch") },
  { format: "html", name: "HTML", holds: t("a single web page") },
] as const;

/**
 * Has the browser keep a conversation as a file. It comes over the page's connection: an address that gives it to whoever
 * opens it would be one that others can open too (S20).
 */
export async function exportFile({ connection }: Page, wanted: Omit<Command<"conversation.export">, "type" | "id">) {
  saveFile(await connection.ask("conversation.export", wanted));
}
