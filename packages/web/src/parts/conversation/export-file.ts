import type { Command } from "@banyan/protocol";
import { saveFile } from "../browser/save-file.ts";
import type { Page } from "../page/page.ts";
import { t } from "../phrases/phrases.ts";

export const FORMATS = [
  { format: "json", name: "JSON", holds: t("all branches; can be imported") },
  { format: "markdown", name: "Markdown", holds: t("this branch") },
  { format: "html", name: "HTML", holds: t("a single web page") },
] as const;

/** Downloads a conversation over the page's connection, because other people could open a download address too (S20). */
export async function downloadExport(
  { connection }: Page,
  wanted: Omit<Command<"conversation.export">, "type" | "id">,
) {
  saveFile(await connection.ask("conversation.export", wanted));
}
