import { realpathSync } from "node:fs";
import { counted } from "@banyan/core/shown";
import type { SearchHit } from "@banyan/core/stores";
import { type ConversationDirectory, searchForUsers } from "@banyan/host";
import { optionWords, ownCommand } from "@banyan/host/own-command";
import { excerptLine } from "../show/fit-text.ts";
import { plainText } from "../show/plain-text.ts";
import { type Style, styleFor } from "../show/style.ts";
import { formatTime } from "../show/table.ts";
import type { ConversationsArguments } from "./arguments.ts";

/** Searches messages in all conversations and branches (B55). */
export async function search(
  directory: ConversationDirectory,
  { words, here, programs, limit, output }: Extract<ConversationsArguments, { action: "search" }>,
  write: (text: string) => void,
): Promise<void> {
  const within = { limit, ...(here ? { labels: { cwd: realpathSync(".") } } : {}) };
  const hits = await (programs ? directory.search(words, within) : searchForUsers(directory, words, within));
  if (output === "json") return write(`${JSON.stringify(hits, null, 2)}\n`);
  if (hits.length === 0)
    return write("Nothing found. All words must be in one message. The last word can be incomplete.\n");
  const style = styleFor(process.stdout, "auto");
  for (const hit of hits) {
    const who = hit.role === "user" ? "you" : "agent";
    write(`${style.bold(excerptLine(hit.title, 60))}  ${style.dim(`${formatTime(hit.at)}, ${who}`)}\n`);
    write(`  ${highlightMatches(hit, style)}\n`);
    const there = [...optionWords("--resume", hit.conversation), ...optionWords("--at", hit.message)];
    write(style.dim(`  ${ownCommand(there)}\n`));
  }
  write(
    style.dim(
      `${counted(hits.length, "message")}. The last line of each result is the command that opens the message.\n`,
    ),
  );
}

function highlightMatches({ excerpt: text, matches }: SearchHit, style: Style): string {
  let line = "";
  let end = 0;
  for (const [from, to] of matches) {
    line += plainText(text.slice(end, from)) + style.accent(plainText(text.slice(from, to)));
    end = to;
  }
  return line + plainText(text.slice(end));
}
