import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { StoreError } from "@banyan/core";
import { counted, visibleLine } from "@banyan/core/shown";
import { ConversationDirectory, directories, MemoryError, redactor, userMemory } from "@banyan/host";
import { optionWords, ownCommand } from "@banyan/host/own-command";
import { listing } from "../output/listing.ts";
import type { ExitCode } from "../program/exit.ts";
import { excerptLine } from "../show/fit-text.ts";
import { formatTime } from "../show/table.ts";
import { askForYes } from "../terminal/ask-for-yes.ts";
import type { ConversationsArguments } from "./arguments.ts";
import { exportConversation } from "./exchange.ts";
import { importConversations } from "./import.ts";
import { listConversations } from "./list.ts";
import { search } from "./search.ts";
import { printConversation } from "./show.ts";

/** Maximum memories counted for a removed conversation. */
const MOST_COUNTED = 1_000;

/** `banyan conversations`: the stored conversations of this machine. Calls no model. */
export function conversations(args: ConversationsArguments): Promise<ExitCode> {
  return listing(async (write) => {
    await using directory = new ConversationDirectory({ env: process.env, home: homedir() });
    switch (args.action) {
      case "list":
        return await listConversations(directory, args, write);
      case "show":
        return await printConversation(directory, args.conversation, write);
      case "search":
        return await search(directory, args, write);
      case "export":
        return await exportConversation(directory, args, write);
      case "import":
        return await importConversations(directory, args, write);
      case "remove":
        return await removeConversation(directory, args, write);
    }
  });
}

/** Deletes a conversation for good after the user's yes or `--yes`. */
async function removeConversation(
  directory: ConversationDirectory,
  { conversation, yes }: Extract<ConversationsArguments, { action: "remove" }>,
  write: (text: string) => void,
): Promise<void> {
  const { id, title, createdAt } = await directory.find(conversation);
  const what = `${visibleLine(id)}, “${excerptLine(title, 60)}”, begun ${formatTime(createdAt)}, ${await storedSize(directory, id)}`;
  if (!yes && !(await askForYes(`remove ${what}, for good`, `This removes ${what}, for good.`)))
    return write("Nothing was removed.\n");
  await directory.remove(id);
  write(`Removed ${what}.\n${await toldOfMemory(id)}`);
}

/** Names the memories of a removed conversation, and the command that removes them (F106). */
async function toldOfMemory(conversation: string): Promise<string> {
  const env = process.env;
  const places = directories(env, homedir());
  await using memory = userMemory({ places, workspace: realpathSync("."), redact: redactor({ env }) });
  const forgets = `${ownCommand(["memory", "clear", ...optionWords("--in", conversation)])} forgets what memory knows only from this conversation.\n`;
  try {
    const kept = await memory.list({ conversation, limit: MOST_COUNTED });
    if (kept.length === 0) return "";
    const more = kept.length === MOST_COUNTED ? "or more " : "";
    return `Memory keeps ${counted(kept.length, `${more}text`)} from this conversation. ${forgets}`;
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    return `Banyan cannot check whether memory keeps texts from this conversation: ${error.message} ${forgets}`;
  }
}

async function storedSize(directory: ConversationDirectory, id: string): Promise<string> {
  try {
    const { state } = await directory.read(id);
    return `with ${counted(state.messages.size, "message")} in all its branches`;
  } catch (error) {
    // A damaged conversation can be removed too; `remove` refuses an open one.
    if (error instanceof StoreError) return "unreadable at the moment";
    throw error;
  }
}
