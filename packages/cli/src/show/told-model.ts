import { type Message, textOf } from "@banyan/core/conversation";
import { isShownByChanges } from "./edit-outcome.ts";
import { firstLines } from "./excerpt.ts";
import { plainText } from "./plain-text.ts";

/** Lines of it that are shown. */
const SHOWN = 10;

/** What a tool or the system tells the model, why something was not done, say; no line of what a person wrote. */
export function toldModelLines(message: Message | undefined): string[] {
  if (message?.role !== "user" || message.author === "user" || isShownByChanges(message)) return [];
  return firstLines(plainText(`${message.author}: ${textOf(message)}`.trim()), SHOWN).split("\n");
}
