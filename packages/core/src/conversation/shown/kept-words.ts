import { isUserMessage, type Message, type SummaryMessage, textOf } from "../message.ts";
import { counted, formatCount } from "./amounts.ts";
import { attachedText, encloseInTags } from "./enclosed-text.ts";
import { cutInMiddle } from "./visible-text.ts";

/**
 * Returns the texts that replace the covered messages for the model. These are the summary, the plan, files and
 * processes (F87), the kept words of the user (F86), and the note (F96). Kept messages that are removed or not on the
 * path are left out.
 */
export function summaryTexts(summary: SummaryMessage, path: readonly Message[]): string[] {
  const texts = [encloseInTags("summary-of-the-conversation-so-far", textOf(summary))];
  if (summary.state !== undefined) texts.push(encloseInTags("state-of-the-work", summary.state));
  const words = keptWords(summary, path);
  if (words !== undefined) texts.push(words);
  if (summary.note !== undefined) texts.push(summary.note);
  return texts;
}

function keptWords({ kept = [], leftOut = 0 }: SummaryMessage, path: readonly Message[]): string | undefined {
  const shownOf = new Map(kept.map(({ message, characters }) => [message, characters]));
  const found = shownOf.size === 0 ? [] : path.filter(({ id, removed }) => !removed && shownOf.has(id));
  if (found.length === 0 && leftOut === 0) return undefined;
  return wordsBlock(
    leftOut,
    found.map((message) => keptMessage(message, shownOf.get(message.id))),
  );
}

/** Returns the kept user messages as a text for the model. `leftOut`: number of user messages that were left out. */
export function wordsBlock(leftOut: number, messages: readonly string[]): string {
  const are = leftOut === 1 ? "is" : "are";
  const counting = leftOut > 0 ? ` ${counted(leftOut, "other message")} of the user ${are} not shown.` : "";
  return encloseInTags("words-of-the-user", [`${WORD_FOR_WORD}${counting}`, ...messages].join("\n"));
}

const WORD_FOR_WORD = "These are the user's messages before this point, word for word, the oldest first.";

/** Returns the words of a message in tags, cut to at most `characters` UTF-16 units. */
export function keptMessage(message: Message, characters = Number.POSITIVE_INFINITY): string {
  const words = cutInMiddle(
    userWords(message),
    characters,
    (cut) => `[… ${formatCount(cut)} characters are left out here …]`,
  );
  return encloseInTags(isUserMessage(message) ? "message" : "task", words);
}

/** Returns the words that a user wrote in a message, without attachments and texts of hooks. */
export function userWords(message: Message): string {
  const texts = message.parts.flatMap((part) => (part.type === "text" && !attachedText(part.text) ? [part.text] : []));
  return texts.join("\n\n").trim();
}

export function attachmentsOf(message: Message): string[] {
  if (message.role !== "user") return [];
  return message.parts.flatMap((part) => {
    if (part.type === "file") return [part.name ?? part.mediaType];
    const attached = attachedText(part.text);
    return attached && attached.kind !== "output" && attached.kind !== "hook" ? [attached.name] : [];
  });
}
