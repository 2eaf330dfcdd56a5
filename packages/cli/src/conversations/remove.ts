import { StoreError } from "@banyan/core";
import { counted, visibleLine } from "@banyan/core/shown";
import type { ConversationDirectory } from "@banyan/host";
import { excerpt } from "../show/excerpt.ts";
import { formatTime } from "../show/time.ts";
import type { ConversationsArguments } from "../subcommands.ts";
import { agreed } from "../terminal/agreed.ts";

/** Removes a conversation for good, once a person has agreed to what goes, or `--yes` has. */
export async function remove(
  directory: ConversationDirectory,
  { conversation, yes }: Extract<ConversationsArguments, { action: "remove" }>,
  write: (text: string) => void,
): Promise<void> {
  const { id, title, createdAt } = await directory.find(conversation);
  const what = `${visibleLine(id)}, “${excerpt(title, 60)}”, begun ${formatTime(createdAt)}, ${await sizeOf(directory, id)}`;
  if (!yes && !(await agreed(`remove ${what}, for good`, `This removes ${what}, for good.`)))
    return write("Nothing was removed.\n");
  await directory.remove(id);
  write(`Removed ${what}.\n`);
}

async function sizeOf(directory: ConversationDirectory, id: string): Promise<string> {
  try {
    const { state } = await directory.read(id);
    return `with ${counted(state.messages.size, "message")} in all its branches`;
  } catch (error) {
    // One that is damaged can be removed too; one that is open is refused when it comes to it.
    if (error instanceof StoreError) return "which cannot be read now";
    throw error;
  }
}
