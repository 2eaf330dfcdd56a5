import { messageNumbers } from "@banyan/client/actions";
import { type ConversationState, type Message, pathTo } from "@banyan/core";
import { describeUnreadable } from "@banyan/core/conversation";
import { counted, visibleLine } from "@banyan/core/shown";
import type { ConversationDirectory } from "@banyan/host";
import { callBegin, callDetails, callEndText } from "../show/call-line.ts";
import { speakerOf } from "../show/message-label.ts";
import { plainLine, plainText } from "../show/plain-text.ts";
import { type Style, styleFor } from "../show/style.ts";
import { formatTime } from "../show/table.ts";

/** Prints the latest branch of a conversation as text. */
export async function printConversation(
  directory: ConversationDirectory,
  named: string,
  write: (text: string) => void,
): Promise<void> {
  const { id, title } = await directory.find(named);
  const { state, damage } = await directory.read(id);
  const style = styleFor(process.stdout, "auto");
  const columns = process.stdout.columns || 100;
  const path = pathTo(state, state.leaf);
  write(`${style.bold(plainLine(title))}\n`);
  write(
    style.dim(
      `${visibleLine(id)}, begun ${formatTime(state.createdAt)}, ${counted(path.length, "message")} on this branch\n`,
    ),
  );
  for (const sentence of damage)
    write(style.warning(`Part of the conversation cannot be read: ${plainLine(sentence)}\n`));
  const agent = state.labels.agent ?? "agent";
  write(
    branchLines(state, state.leaf, { agent, style, columns })
      .map((line) => `${line}\n`)
      .join(""),
  );
}

/** Converts a branch to text, from its root to a leaf: messages with speakers, and calls. */
export function branchLines(
  state: ConversationState,
  leaf: string | null,
  { agent, style, columns }: { readonly agent: string; readonly style: Style; readonly columns: number },
): string[] {
  const numbers = messageNumbers(state);
  return pathTo(state, leaf).flatMap((message) => [
    "",
    `${style.dim(`#${numbers.get(message.id)}`)} ${style.accent(speakerOf(message, agent))}`,
    ...unreadableLine(message),
    ...message.parts.flatMap((part) => {
      if (part.type === "text") return part.text.trim() === "" ? [] : plainText(part.text).trim().split("\n");
      if (part.type === "file") return [`(file: ${plainLine(part.name ?? part.url ?? part.mediaType)})`];
      const call =
        part.type === "call" && message.role === "assistant" && message.calls.find((other) => other.id === part.call);
      if (!call) return [];
      return [`${callBegin(call, style, columns)}${callEndText(call, style)}`, ...callDetails(call, style, columns)];
    }),
  ]);
}

function unreadableLine(message: Message): string[] {
  const unreadable = describeUnreadable(message);
  return unreadable === undefined ? [] : [plainLine(unreadable)];
}
