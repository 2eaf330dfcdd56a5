import type { UserPart } from "@banyan/core/conversation";
import { attachedText } from "@banyan/core/shown";
import { keepValue, keptNames, keptValue } from "../browser/kept-value.ts";

/** A message on its way to the server. Its id becomes the message's id, so that repeated sending has one effect. */
export interface UnsentMessage {
  readonly id: string;
  readonly conversation: string;
  readonly parts: readonly UserPart[];
  /** The saved prompt that precedes the parts, by its name. */
  readonly prompt?: string;
  readonly argument?: string;
  readonly at?: string;
  readonly run?: string;
  readonly delivery?: "steer" | "queue";
  readonly mode?: "chat" | "task";
}

/** The text of the message box, and its attachments. */
export interface ComposedMessage {
  readonly text: string;
  readonly rest: readonly UserPart[];
}

/** Splits a message into the typed text, which is its first text, and attachments. A saved prompt becomes its command line. */
export function writtenIn({
  parts,
  prompt,
  argument = "",
}: Pick<UnsentMessage, "parts" | "prompt" | "argument">): ComposedMessage {
  if (prompt !== undefined) return { text: `/${prompt} ${argument}`.trimEnd(), rest: parts };
  const typed = parts.find((part) => part.type === "text");
  if (typed?.type !== "text" || attachedText(typed.text)) return { text: "", rest: parts };
  return { text: typed.text, rest: parts.filter((part) => part !== typed) };
}

/** One storage entry per message, so that windows do not overwrite each other. */
const NAME = "unsent ";

/** Stores an unsent message, so that a reload does not lose it (W25). */
export function keepUnsent(unsent: UnsentMessage): void {
  keepValue(NAME + unsent.id, unsent);
}

/** Removes a stored message that was sent or withdrawn. */
export function forgetUnsent({ id }: UnsentMessage): void {
  keepValue(NAME + id, undefined);
}

/** Returns the messages that were unsent when the page loaded, in the order in which they were written. */
export function keptUnsent(): readonly UnsentMessage[] {
  return keptNames(NAME)
    .toSorted()
    .flatMap((name) => (keptValue(name) as UnsentMessage | undefined) ?? []);
}
