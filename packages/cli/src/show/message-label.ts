import {
  type ConversationState,
  type FeedItem,
  lastAssistantMessage,
  leaves,
  type Message,
  newestLeaf,
  pathTo,
  textOf,
  toldUnreadable,
  toolOf,
  typedText,
  type WaitingInput,
  worktreeAt,
} from "@banyan/core/conversation";
import { compactedLine, counted, cutTo, visibleLine, withoutMarks } from "@banyan/core/shown";
import { excerpt, firstLines } from "./fit-text.ts";
import { oneLine, plainText } from "./plain-text.ts";

/** `Branch 2 (opus)`: the number by which a person names the branch of a message, and its worktree, or else its model. */
export function branchName(state: ConversationState, message: string): string {
  const leaf = newestLeaf(state, message);
  const name = worktreeAt(state, leaf) ?? lastAssistantMessage(pathTo(state, leaf))?.model;
  return `Branch ${leaves(state).indexOf(leaf) + 1}${name === undefined ? "" : ` (${visibleLine(name)})`}`;
}

/** Who wrote a message, as people say it. */
export function speakerOf(message: Message, agent: string): string {
  if (message.role === "user") return message.author === "user" ? "you" : message.author;
  return message.role === "summary" ? "summary" : agent;
}

/** What people and the agent did with a message: its calls, its name, its star, and the number of the branch that ends with it. */
export function messageMarks(message: Message, branch: number | undefined): string[] {
  // A message without text is shown as its calls already.
  const calls = message.role === "assistant" && textOf(message).trim() !== "" ? message.calls.length : 0;
  const marks = [
    calls > 0 ? `(${counted(calls, "call")})` : "",
    message.label === undefined ? "" : `[${oneLine(message.label)}]`,
    message.starred ? "★" : "",
    branch === undefined ? "" : `(branch ${branch})`,
  ];
  return marks.filter((mark) => mark !== "");
}

/** What a message says, on one line: its text, or what it asks for when it has none. */
export function gist(message: Message, width: number): string {
  const instead = toldUnreadable(message) ?? undoneLine(message);
  if (instead !== undefined) return excerpt(`(${oneLine(instead)})`, width);
  const text = withoutMarks(cutTo(typedText(message), width * 8, "")).trim();
  if (text !== "") return excerpt(text, width);
  if (message.role !== "assistant") return "";
  const tools = message.calls.map(toolOf);
  if (tools.length > 0) return excerpt(`(${counted(tools.length, "call")}: ${tools.join(", ")})`, width);
  return message.finish === undefined || message.finish === "interrupted" ? "(interrupted)" : "(no text)";
}

const WORDS = { steer: "steer", queue: "queued", interrupt: "interrupt" } as const;

/** How something that waits reaches the agent, in a word. */
export type WaitingWord = "held" | (typeof WORDS)[keyof typeof WORDS];

export function waitingWord({ delivery, held }: Pick<WaitingInput, "delivery" | "held">): WaitingWord {
  return held ? "held" : WORDS[delivery];
}

/** `steer: use the other file`: something that waits, on one line. */
export function waitingLine(
  input: Pick<WaitingInput, "parts" | "unreadable" | "delivery" | "held">,
  width: number,
): string {
  const word = waitingWord(input);
  return `${word}: ${waitingText(input, Math.max(20, width - word.length - 2))}`;
}

/** What it says, on one line: its first text, as what a person typed; what goes along is in the others. */
export function waitingText(input: Pick<WaitingInput, "parts" | "unreadable">, width: number): string {
  const { parts } = input;
  const unreadable = toldUnreadable(input);
  if (unreadable !== undefined) return excerpt(oneLine(unreadable), width);
  const typed = parts.find((part) => part.type === "text");
  const texts = parts.flatMap((part) => {
    if (part.type === "file") return [`(file: ${part.name ?? part.mediaType})`];
    return part === typed ? [part.text] : [];
  });
  return excerpt(texts.join(" "), width);
}

/** Lines of it that are shown. */
const SHOWN = 10;

/** What a tool or the system tells the model, why something was not done, say; no line of what a person wrote. */
export function toldModelLines(message: Message | undefined): string[] {
  const unreadable = toldUnreadable(message);
  if (unreadable !== undefined) return [oneLine(unreadable)];
  if (message?.role === "summary" && message.compaction) return [compactedLine(message.compaction)];
  if (message?.role !== "user" || message.author === "user" || isShownByChanges(message)) return [];
  const undone = undoneLine(message);
  if (undone !== undefined) return [undone];
  return firstLines(plainText(`${message.author}: ${textOf(message)}`.trim()), SHOWN).split("\n");
}

/** Which commands in the background a person was told the end of, so that they do not read it again as the model does. */
export class ToldEnds {
  readonly #told = new Set<string>();

  /** Takes an item that is shown. */
  note(item: FeedItem): void {
    if (item.type === "process.ended") this.#told.add(item.process);
  }

  /** Whether a message tells the model nothing but such ends. */
  has(message: Message | undefined): boolean {
    if (message?.role !== "user" || message.author !== "system") return false;
    const ended = textOf(message)
      .split("\n")
      .map((line) => ENDED.exec(line)?.[1]);
    return ended.every((process) => process !== undefined && this.#told.has(process));
  }
}

const ENDED = /^(\S+) \(.*\) has ended: /;

const UNDONE =
  /^The person has taken back changes that were made to files\. They are again as they were before:((?:\n- .+)+)$/;

/** `a.ts has its previous content again; the model is told`: what a person took back, who does not read it as the model does. */
export function undoneLine(message: Message): string | undefined {
  if (message.role !== "user" || message.author !== "system") return undefined;
  const [, files] = UNDONE.exec(textOf(message)) ?? [];
  const lines = files?.split("\n- ").slice(1).map(visibleLine);
  return lines && `${lines.join(", ")}; the model is told`;
}

const APPLIED = /^All blocks were applied\.(\n.+: (created, with|\d+ blocks? applied;) .+)+\nEdit mode has ended/;

/** Whether a tool says only that blocks became changes of files: a person sees these with their lines, just above. */
export function isShownByChanges(message: Message): boolean {
  return message.role === "user" && message.author === "tool" && APPLIED.test(textOf(message));
}
