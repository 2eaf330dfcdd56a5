import { type ConversationState, pathTo } from "@banyan/core";
import { counted } from "@banyan/core/shown";
import { ASK, type Command, type ConversationContext } from "./command.ts";
import { namedMessage } from "./named-message.ts";

export const remove: Command<ConversationContext> = {
  name: "remove",
  takes: "#n",
  help: "put message #n and all below it out of sight; /restore brings it back",
  async run(context, argument) {
    const named = namedMessage(context, argument);
    if (!named) return ASK;
    const { id } = named.message;
    const stoodThere = pathTo(context.state, context.leaf).some((message) => message.id === id);
    const count = countFrom(context.state, id);
    await context.session?.remove(id);
    if (stoodThere) context.goBack();
    context.write(`Removed ${counted(count, "message")}. /restore ${named.number} brings them back.`);
    return ASK;
  },
};

/** The messages from one on down that are in sight. */
export function countFrom(state: ConversationState, message: string): number {
  let count = 0;
  const open = [message];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (state.messages.get(id)?.removed) continue;
    count++;
    for (const child of state.children.get(id) ?? []) open.push(child);
  }
  return count;
}
