import { pathTo } from "@banyan/core";
import { counted, visibleLine } from "@banyan/core/shown";
import type { ConversationDirectory } from "@banyan/host";
import { callDetails, callEnd, callHead } from "../show/call-line.ts";
import { messageNumbers, speakerOf } from "../show/message-label.ts";
import { oneLine, plainText } from "../show/plain-text.ts";
import { styleFor } from "../show/style.ts";
import { formatTime } from "../show/table.ts";

/** Prints the branch that was written to last, as text. */
export async function show(
  directory: ConversationDirectory,
  named: string,
  write: (text: string) => void,
): Promise<void> {
  const { id, title } = await directory.find(named);
  const { state, damage } = await directory.read(id);
  const style = styleFor(process.stdout, "auto");
  const columns = process.stdout.columns || 100;
  const path = pathTo(state, state.leaf);
  const numbers = messageNumbers(state);
  const agent = state.labels.agent ?? "agent";
  write(`${style.bold(oneLine(title))}\n`);
  write(
    style.dim(
      `${visibleLine(id)}, begun ${formatTime(state.createdAt)}, ${counted(path.length, "message")} on this branch\n`,
    ),
  );
  for (const sentence of damage) write(style.warning(`Not all of it can be read: ${oneLine(sentence)}\n`));
  for (const message of path) {
    write(`\n${style.dim(`#${numbers.get(message.id)}`)} ${style.accent(speakerOf(message, agent))}\n`);
    for (const part of message.parts) {
      if (part.type === "text" && part.text.trim() !== "") write(`${plainText(part.text).trim()}\n`);
      if (part.type === "file") write(`(file: ${oneLine(part.name ?? part.url ?? part.mediaType)})\n`);
      const call =
        part.type === "call" && message.role === "assistant" && message.calls.find((other) => other.id === part.call);
      if (!call) continue;
      const lines = [
        `${callHead(call, style, columns)} … ${callEnd(call, style)}`,
        ...callDetails(call, style, columns),
      ];
      write(`${lines.join("\n")}\n`);
    }
  }
}
