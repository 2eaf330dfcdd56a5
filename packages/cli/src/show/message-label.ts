import { compactedLine, toolReport } from "@banyan/client/words";
import {
  type ConversationState,
  describeUnreadable,
  type FeedItem,
  lastAssistantMessage,
  leaves,
  type Message,
  newestLeaf,
  pathTo,
  textOf,
  toolNameOf,
  typedText,
  type UserMessage,
  type WaitingInput,
  worktreeAt,
} from "@banyan/core/conversation";
import { counted, cutTo, endedIn, undoneIn, visibleLine, withoutMarks } from "@banyan/core/shown";
import { excerptLine, firstLines } from "./fit-text.ts";
import { plainLine, plainText } from "./plain-text.ts";

/** Returns a label such as `Branch 2 (opus)`: the number of a message's branch, with its worktree or its model. */
export function branchLabel(state: ConversationState, message: string): string {
  const leaf = newestLeaf(state, message);
  const name = worktreeAt(state, leaf) ?? lastAssistantMessage(pathTo(state, leaf))?.model;
  return `Branch ${leaves(state).indexOf(leaf) + 1}${name === undefined ? "" : ` (${visibleLine(name)})`}`;
}

export function speakerOf(message: Message, agent: string): string {
  if (message.role === "user") return message.author === "user" ? "you" : message.author;
  return message.role === "summary" ? "summary" : agent;
}

/**
 * Returns the marks of a message: number of calls, label, star, and the number of the branch that ends with the
 * message.
 */
export function messageMarks(message: Message, branch: number | undefined): string[] {
  const calls = message.role === "assistant" && textOf(message).trim() !== "" ? message.calls.length : 0;
  const marks = [
    calls > 0 ? `(${counted(calls, "call")})` : "",
    message.label === undefined ? "" : `[${plainLine(message.label)}]`,
    message.starred ? "★" : "",
    branch === undefined ? "" : `(branch ${branch})`,
  ];
  return marks.filter((mark) => mark !== "");
}

/** Describes a message on one line: its text, or its calls if it has no text. */
export function gist(message: Message, width: number): string {
  const instead = describeUnreadable(message) ?? undoneLine(message);
  if (instead !== undefined) return excerptLine(`(${plainLine(instead)})`, width);
  const text = withoutMarks(cutTo(typedText(message), width * 8, "")).trim();
  if (text !== "") return excerptLine(text, width);
  if (message.role !== "assistant") return "";
  const tools = message.calls.map(toolNameOf);
  if (tools.length > 0) return excerptLine(`(${counted(tools.length, "call")}: ${tools.join(", ")})`, width);
  return message.finish === undefined || message.finish === "interrupted" ? "(interrupted)" : "(no text)";
}

const WORDS = { steer: "steer", queue: "queued", interrupt: "interrupt" } as const;

/** State of a queued message, in a word. */
export type WaitingLabel = "held" | (typeof WORDS)[keyof typeof WORDS];

export function waitingWord({ delivery, held }: Pick<WaitingInput, "delivery" | "held">): WaitingLabel {
  return held ? "held" : WORDS[delivery];
}

/** Describes a queued message on one line, such as `steer: use the other file`. */
export function waitingLine(
  input: Pick<WaitingInput, "parts" | "unreadable" | "delivery" | "held">,
  width: number,
): string {
  const word = waitingWord(input);
  return `${word}: ${waitingText(input, Math.max(20, width - word.length - 2))}`;
}

/** Returns a queued message on one line: the text that the user typed, and the names of files. */
export function waitingText(input: Pick<WaitingInput, "parts" | "unreadable">, width: number): string {
  const { parts } = input;
  const unreadable = describeUnreadable(input);
  if (unreadable !== undefined) return excerptLine(plainLine(unreadable), width);
  const typed = parts.find((part) => part.type === "text");
  const texts = parts.flatMap((part) => {
    if (part.type === "file") return [`(file: ${part.name ?? part.mediaType})`];
    return part === typed ? [part.text] : [];
  });
  return excerptLine(texts.join(" "), width);
}

const SHOWN = 10;

/**
 * Formats a message from a tool or the system to the model, such as a denial. Returns no lines for a user's message.
 */
export function modelNoticeLines(message: Message | undefined): string[] {
  const unreadable = describeUnreadable(message);
  if (unreadable !== undefined) return [plainLine(unreadable)];
  const shortened = shortenedLine(message);
  if (shortened !== undefined) return [shortened];
  if (message?.role === "summary" && message.compaction) return [compactedLine(message.compaction)];
  if (message?.role !== "user" || message.author === "user") return [];
  const undone = undoneLine(message);
  if (undone !== undefined) return [undone];
  const { text, problems } = modelNotice(message);
  const lines = text === "" ? [] : firstLines(plainText(`${message.author}: ${text}`.trim()), SHOWN).split("\n");
  return [...lines, ...problems.map(plainLine)];
}

/**
 * Splits a message from a tool or the system to the model into new problems as lines, and the rest that users must see.
 */
export function modelNotice(message: UserMessage): { readonly text: string; readonly problems: readonly string[] } {
  const text = textOf(message);
  return message.author === "tool" ? toolReport(text) : { text, problems: [] };
}

/**
 * Keeps the background commands whose end the user has already seen. The message to the model about such an end is then
 * hidden.
 */
export class ReportedEnds {
  readonly #told = new Set<string>();

  note(item: FeedItem): void {
    if (item.type === "process.ended") this.#told.add(item.process);
  }

  has(message: Message | undefined): boolean {
    if (message?.role !== "user" || message.author !== "system") return false;
    return endedIn(textOf(message))?.every((process) => this.#told.has(process)) ?? false;
  }
}

/** Tells the user that the model sees a message or a result shortened (F91). Undefined for other messages. */
export function shortenedLine(message: Message | undefined): string | undefined {
  return message?.role === "summary" && message.covers === undefined ? plainLine(textOf(message)) : undefined;
}

/** Shortens a message about undone changes, which was written for the model, for display to the user. */
export function undoneLine(message: Message): string | undefined {
  if (message.role !== "user" || message.author !== "system") return undefined;
  const lines = undoneIn(textOf(message))?.map(visibleLine);
  return lines && `${lines.join(", ")}; the agent is informed`;
}
