import type { UserPart } from "@banyan/core/conversation";
import { attachedText } from "@banyan/core/shown";
import { keep, kept, keptNames } from "../shell/kept.ts";

/** A message on its way to the server. Its id becomes the message's: however often it goes out, it is said once. */
export interface Unsent {
  readonly id: string;
  readonly conversation: string;
  readonly parts: readonly UserPart[];
  /** The prompt of the server's that says it, before the parts. */
  readonly prompt?: string;
  /** What stands behind the name of the prompt. */
  readonly argument?: string;
  readonly at?: string;
  readonly run?: string;
  readonly delivery?: "steer" | "queue";
  /** How the turn is taken; as a chat when absent. */
  readonly mode?: "chat" | "task";
}

/** The text of the message box, and its attachments. */
export interface WrittenMessage {
  readonly text: string;
  readonly rest: readonly UserPart[];
}

/** Takes a message apart: what was typed is its first text, unless a file goes before it; a prompt is typed as its command. */
export function writtenIn({
  parts,
  prompt,
  argument = "",
}: Pick<Unsent, "parts" | "prompt" | "argument">): WrittenMessage {
  if (prompt !== undefined) return { text: `/${prompt} ${argument}`.trimEnd(), rest: parts };
  const typed = parts.find((part) => part.type === "text");
  if (typed?.type !== "text" || attachedText(typed.text)) return { text: "", rest: parts };
  return { text: typed.text, rest: parts.filter((part) => part !== typed) };
}

/** Each has a place of its own, so that windows do not write over what others keep. */
const NAME = "unsent ";

/** Keeps what is not sent, so that a reload loses nothing of it (W25). */
export function keepUnsent(unsent: Unsent): void {
  keep(NAME + unsent.id, unsent);
}

/** It was sent, or taken back. */
export function forgetUnsent({ id }: Unsent): void {
  keep(NAME + id, undefined);
}

/** What was not sent when the page was loaded, in the order in which it was said: ids grow. */
export function keptUnsent(): readonly Unsent[] {
  return keptNames(NAME)
    .toSorted()
    .flatMap((name) => (kept(name) as Unsent | undefined) ?? []);
}
