import { type ConversationState, pathTo } from "@banyan/core";
import { toolOf } from "@banyan/core/conversation";
import { visibleProse } from "@banyan/core/shown";
import { argumentsOf, headingOf, piecesOf, statusWord, type TranscriptPiece, timeOf, titleOf } from "./transcript.ts";

/**
 * One branch of a conversation as Markdown (B56): the branch through `leaf` that was written last. Escapes characters that would
 * act on a terminal (S12).
 */
export function toMarkdown(state: ConversationState, leaf: string | null = state.leaf): string {
  const blocks = [
    `# ${titleOf(state)}`,
    `Conversation ${state.id.replace(/[\\`*_[\]<>&]/g, "\\$&")}, begun ${timeOf(state.createdAt)}.`,
  ];
  for (const message of pathTo(state, leaf))
    blocks.push(`## ${headingOf(message)}`, ...piecesOf(message).map((piece) => blockOf(piece)));
  return `${visibleProse(blocks.join("\n\n").replaceAll("\r\n", "\n"))}\n`;
}

function blockOf(piece: TranscriptPiece): string {
  switch (piece.type) {
    case "text":
      return piece.text.trim();
    case "reasoning":
      return quoted(`Thinking: ${piece.text.trim()}`);
    case "note":
      return `*${piece.text.replace(/\s+/g, " ").trim()}*`;
    case "source":
      return `Source: [${piece.title.replace(/[[\]\\]/g, "\\$&")}](<${piece.url.replace(/[<>\s]/g, encodeURIComponent)}>)`;
    case "file":
      return `File: ${piece.name} (${piece.mediaType})`;
    case "call": {
      const { call } = piece;
      const said = call.output === undefined ? [] : [fenced(call.output, "text")];
      return [`**${toolOf(call)}** ${statusWord(call)}`, fenced(argumentsOf(call), "json"), ...said].join("\n\n");
    }
  }
}

function quoted(text: string): string {
  return text
    .split("\n")
    .map((line) => `> ${line}`.trimEnd())
    .join("\n");
}

/** A code block whose fence is longer than any in the text. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
}
