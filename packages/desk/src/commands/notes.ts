import { editSummary } from "@banyan/core/hosts";
import type { Handlers } from "./workplace.ts";

/** Handlers of the commands that mark, edit or hide messages. */
export const noteHandlers: Handlers<
  "memory.dismiss" | "message.label" | "message.remove" | "message.restore" | "message.star" | "summary.edit"
> = {
  async "message.label"({ conversation, message, label }, { conversations }) {
    await (await conversations.open(conversation)).session.notes.label(message, label);
    return {};
  },
  async "message.star"({ conversation, message, starred }, { conversations }) {
    await (await conversations.open(conversation)).session.notes.star(message, starred);
    return {};
  },
  async "summary.edit"({ conversation, message, text, id }, { conversations, host }) {
    const { session } = await conversations.open(conversation);
    return { message: await editSummary(session, message, host.redact(text), id) };
  },
  async "memory.dismiss"({ conversation, message, item, dismissed }, { conversations }) {
    await (await conversations.open(conversation)).session.notes.dismiss(message, item, dismissed);
    return {};
  },
  async "message.remove"({ conversation, message }, { conversations }) {
    await (await conversations.open(conversation)).session.notes.remove(message);
    return {};
  },
  async "message.restore"({ conversation, message }, { conversations }) {
    await (await conversations.open(conversation)).session.notes.restore(message);
    return {};
  },
};
