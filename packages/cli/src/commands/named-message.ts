import type { Message } from "@banyan/core";
import { excerpt } from "../show/excerpt.ts";
import { isRemoved, messageNamed } from "../show/message-label.ts";
import type { ConversationContext } from "./command.ts";

/** The message that an argument begins with, as `#4`, and what stands behind it. Says so when there is none, or when it was removed. */
export function namedMessage(
  { state, write }: ConversationContext,
  argument: string,
): { readonly message: Message; readonly number: string; readonly rest: string } | undefined {
  const [, name = "", rest = ""] = /^(\S*)\s*(.*)$/s.exec(argument) ?? [];
  const id = messageNamed(state, name);
  const message = id === undefined ? undefined : state.messages.get(id);
  if (!message) {
    const which = name === "" ? "Name a message by its number, as in #1." : `There is no message ${excerpt(name, 40)}.`;
    write(`${which} /tree shows the numbers.`);
    return undefined;
  }
  if (isRemoved(state, message.id)) {
    write(`${name} was removed. /restore brings it back.`);
    return undefined;
  }
  return { message, number: name, rest };
}
