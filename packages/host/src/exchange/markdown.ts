import { type ConversationState, pathTo } from "@banyan/core";
import { toolNameOf } from "@banyan/core/conversation";
import { visibleProse } from "@banyan/core/shown";
import {
  conversationTitle,
  executedArguments,
  headingOf,
  messagePieces,
  statusWord,
  type TranscriptPiece,
  timeOf,
} from "./transcript.ts";

/**
 * Converts the branch with the newest message, through `leaf`, to Markdown (B56). Escapes control sequences of
 * terminals (S12).
 * @example await writeFile("conversation.md", toMarkdown(session.state));
 */
export function toMarkdown(state: ConversationState, leaf: string | null = state.leaf): string {
  const blocks = [
    `# ${conversationTitle(state)}`,
    `Conversation ${state.id.replace(/[\\`*_[\]<>&]/g, "\\$&")}, begun ${timeOf(state.createdAt)}.`,
  ];
  for (const message of pathTo(state, leaf))
    blocks.push(`## ${headingOf(message)}`, ...messagePieces(message).map((piece) => pieceMarkdown(piece)));
  return `${visibleProse(blocks.join("\n\n").replaceAll("\r\n", "\n"))}\n`;
}

function pieceMarkdown(piece: TranscriptPiece): string {
  switch (piece.type) {
    case "text":
      return piece.text.trim();
    case "reasoning":
      return quoteMarkdown(`Thinking: ${piece.text.trim()}`);
    case "note":
      return `*${piece.text.replace(/\s+/g, " ").trim()}*`;
    case "source":
      return `Source: [${piece.title.replace(/[[\]\\]/g, "\\$&")}](<${piece.url.replace(/[<>\s]/g, encodeURIComponent)}>)`;
    case "file":
      return `File: ${piece.name} (${piece.mediaType})`;
    case "call": {
      const { call } = piece;
      const said = call.output === undefined ? [] : [fenced(call.output, "text")];
      return [`**${toolNameOf(call)}** ${statusWord(call)}`, fenced(executedArguments(call), "json"), ...said].join(
        "\n\n",
      );
    }
  }
}

function quoteMarkdown(text: string): string {
  return text
    .split("\n")
    .map((line) => `> ${line}`.trimEnd())
    .join("\n");
}

/** The fence must be longer than any in the text. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
}
