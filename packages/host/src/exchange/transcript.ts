import { shownStatus } from "@banyan/client/words";
import type { AssistantMessage, Call, ConversationState, Message, Part } from "@banyan/core";
import { describeUnreadable, type FilePart, isUserMessage, typedText } from "@banyan/core/conversation";
import { cutTo } from "@banyan/core/shown";

/** A part of a message for readers: text, a call, a file and so on. */
export type TranscriptPiece =
  | { readonly type: "text" | "reasoning" | "note"; readonly text: string }
  | { readonly type: "file"; readonly mediaType: string; readonly name: string; readonly data: string | undefined }
  | { readonly type: "source"; readonly url: string; readonly title: string }
  | { readonly type: "call"; readonly call: Call };

/** Converts a message to the parts that an exported transcript shows. */
export function messagePieces(message: Message): TranscriptPiece[] {
  const unreadable = describeUnreadable(message);
  if (unreadable !== undefined) return [{ type: "note", text: unreadable }];
  const calls = message.role === "assistant" ? message.calls : [];
  const pieces = (message.parts as readonly Part[])
    .map((part) => pieceOf(part, calls))
    .filter((piece) => piece !== undefined)
    .flatMap((piece) => [piece, ...(piece.type === "call" ? (piece.call.files ?? []).map(filePiece) : [])]);
  const end = message.role === "assistant" ? finishSentence(message) : undefined;
  return end === undefined ? pieces : [...pieces, { type: "note", text: end }];
}

/** Undefined for an empty part. */
function pieceOf(part: Part, calls: readonly Call[]): TranscriptPiece | undefined {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text.trim() === "" ? undefined : { type: part.type, text: part.text };
    case "provider":
      return { type: "note", text: part.text };
    case "source":
      return { type: "source", url: part.url, title: part.title ?? part.url };
    case "file":
      return filePiece(part);
    case "call": {
      const call = calls.find(({ id }) => id === part.call);
      return call && { type: "call", call };
    }
  }
}

function filePiece({ mediaType, name, url, data }: FilePart): Extract<TranscriptPiece, { type: "file" }> {
  return { type: "file", mediaType, name: name ?? url ?? "file", data };
}

function finishSentence({ finish, error }: AssistantMessage): string | undefined {
  switch (finish) {
    case "stop":
    case "calls":
    case "paused":
      return undefined;
    case undefined:
    case "interrupted":
      return "Interrupted.";
    case "length":
      return "Cut off at the maximum length.";
    case "filtered":
      return `Refused or cut off by the provider${error ? `: ${error}` : "."}`;
    case "error":
      return `Broke off${error ? `: ${error}` : "."}`;
  }
}

/** Returns the call's arguments as text: those with which it ran, or else those that the model wrote. */
export function executedArguments(call: Call): string {
  const input = call.executedInput ?? call.input;
  return input === undefined ? call.inputText : JSON.stringify(input, null, 2);
}

/** Returns the status of a call in words. */
export function statusWord(call: Call): string {
  return shownStatus(call).replaceAll("-", " ");
}

/** Returns the author of a message as a heading. */
export function headingOf(message: Message): string {
  switch (message.role) {
    case "user":
      return message.author === "user" ? "You" : message.author === "tool" ? "Tool" : "System";
    case "assistant":
      return message.model;
    case "summary":
      return "Summary";
  }
}

const TITLE_LENGTH = 80;

/** Returns a conversation's title, or the first line of its first user message (B54). */
export function conversationTitle(state: ConversationState): string {
  const first = state.messages.values().find(isUserMessage);
  const title = state.title ?? (first ? typedText(first) : "");
  const line = title.replace(/[\s\p{Cc}]+/gu, " ").trim();
  const characters = Array.from(line);
  if (characters.length === 0) return "A conversation";
  return characters.length <= TITLE_LENGTH ? line : cutTo(line, characters.slice(0, TITLE_LENGTH - 1).join("").length);
}

/** Formats a time in UTC, so that an export is the same in any time zone. */
export function timeOf(at: number): string {
  return new Date(at)
    .toISOString()
    .replace("T", " ")
    .replace(/:\d\d\.\d+Z$/, " UTC");
}
