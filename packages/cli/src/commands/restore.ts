import { counted } from "@banyan/core/shown";
import { excerpt } from "../show/excerpt.ts";
import { gist, messageNamed, messageNumbers, speakerOf } from "../show/message-label.ts";
import { ASK, type Command, type ConversationContext } from "./command.ts";
import { countFrom } from "./remove.ts";

export const restore: Command<ConversationContext> = {
  name: "restore",
  takes: "[#n]",
  help: "bring back what was removed",
  async run({ state, session, agent, columns, write }, argument) {
    const numbers = messageNumbers(state);
    const removed = [...state.messages.values()].filter((message) => message.removed);
    const named = argument === "" ? undefined : messageNamed(state, argument);
    const wanted = argument === "" ? removed : removed.filter(({ id }) => id === named);
    const [only] = wanted;
    if (removed.length === 0) write("Nothing was removed.");
    else if (!only) write(`${excerpt(argument, 40)} was not removed. /restore lists what was.`);
    else if (wanted.length > 1) {
      for (const message of removed) {
        const head = `#${numbers.get(message.id)}  ${speakerOf(message, agent)}  `;
        write(`${head}${gist(message, Math.max(20, columns - head.length))}`);
      }
      write("/restore #n brings one of these back, with all below it.");
    } else {
      await session?.restore(only.id);
      const number = `#${numbers.get(only.id)}`;
      write(`Back again: ${counted(countFrom(state, only.id), "message")}. /tree ${number} goes on from there.`);
    }
    return ASK;
  },
};
