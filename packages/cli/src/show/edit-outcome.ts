import { type Message, textOf } from "@banyan/core/conversation";

const APPLIED = /^All blocks were applied\.(\n.+: (created, with|\d+ blocks? applied;) .+)+\nEdit mode has ended/;

/** Whether a tool says only that blocks became changes of files: a person sees these with their lines, just above. */
export function isShownByChanges(message: Message): boolean {
  return message.role === "user" && message.author === "tool" && APPLIED.test(textOf(message));
}
