import { type Message, textOf } from "@banyan/core/conversation";
import { firstLines } from "./fit-text.ts";
import { plainText } from "./plain-text.ts";

/** Lines of it that are shown. */
const SHOWN = 10;

/** What a tool or the system tells the model, why something was not done, say; no line of what a person wrote. */
export function toldModelLines(message: Message | undefined): string[] {
  if (message?.role !== "user" || message.author === "user" || isShownByChanges(message)) return [];
  return firstLines(plainText(`${message.author}: ${textOf(message)}`.trim()), SHOWN).split("\n");
}

const APPLIED = /^All blocks were applied\.(\n.+: (created, with|\d+ blocks? applied;) .+)+\nEdit mode has ended/;

/** Whether a tool says only that blocks became changes of files: a person sees these with their lines, just above. */
export function isShownByChanges(message: Message): boolean {
  return message.role === "user" && message.author === "tool" && APPLIED.test(textOf(message));
}
