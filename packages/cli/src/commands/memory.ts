import { pathTo } from "@banyan/core";
import { memoryOffer } from "../show/memory-offer.ts";
import { recalledLines } from "../show/recalled-line.ts";
import { ASK, type Command, type ConversationContext } from "./command.ts";

export const memory: Command = {
  name: "memory",
  takes: "[agree | on | off]",
  help: "show what was recalled into this conversation, or switch memory on or off for it",
  async run(context, argument) {
    const { memory: kept } = await context.host.ready();
    if (argument === "agree") {
      await context.host.agreeToMemory();
      context.write("Memory is on, from your next message on. /memory off switches it off for a conversation.");
    } else if (!kept) context.write(memoryOffer(context.host));
    else if (argument === "on" || argument === "off") {
      const { id } = await context.open();
      await kept.setOn(id, argument === "on");
      context.write(
        argument === "on"
          ? "Memory is on for this conversation."
          : "Memory is off for this conversation: nothing of it is remembered, and nothing is recalled into it.",
      );
    } else if (argument !== "") context.write("/memory shows what was recalled; /memory on and /memory off switch it.");
    else {
      list(context);
      if (context.session && !(await kept.isOn(context.session.id)))
        context.write("Memory is off for this conversation; /memory on switches it on.");
    }
    return ASK;
  },
};

/** Where it can only be looked at. */
export const memoryHere: Command<ConversationContext> = {
  name: "memory",
  help: "show what was recalled into this conversation",
  run(context) {
    list(context);
    return ASK;
  },
};

function list({ state, leaf, columns, style, write }: ConversationContext): void {
  const recalled = pathTo(state, leaf).flatMap((message) => (message.role === "user" ? (message.recalled ?? []) : []));
  if (recalled.length === 0) write("Nothing was recalled on this branch.");
  for (const line of recalledLines(recalled, columns, style.dim)) write(line);
}
