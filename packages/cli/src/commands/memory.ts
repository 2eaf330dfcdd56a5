import { pathTo } from "@banyan/core";
import { visibleLine } from "@banyan/core/shown";
import { type Host, memoryFile } from "@banyan/host";
import { recalledLines } from "../show/memory-lines.ts";
import type { ConversationContext } from "./command.ts";

/** Lists the memories recalled in this conversation. If the agent runs in this process, also turns memory on or off. */
export async function showMemory(context: ConversationContext, argument: string): Promise<void> {
  const { own, write } = context;
  if (!own) return writeMemories(context);
  const { host } = own;
  const { memory: kept } = await host.ready();
  if (argument === "agree") {
    await host.agreeToMemory();
    write("Memory is on from your next message. /memory off turns it off for a conversation.");
  } else if (!kept) write(memoryOffer(host));
  else if (argument === "on" || argument === "off") {
    const { id } = await own.open();
    await kept.setOn(id, argument === "on");
    write(
      argument === "on"
        ? "Memory is on for this conversation."
        : "Memory is off for this conversation: nothing is remembered or recalled.",
    );
  } else {
    writeMemories(context);
    if (own.session && !(await kept.isOn(own.session.id)))
      write("Memory is off for this conversation. /memory on turns it on.");
  }
}

function writeMemories(context: ConversationContext): void {
  const {
    write,
    screen: { columns, style },
  } = context;
  const recalled = pathTo(context.state, context.leaf).flatMap((message) =>
    message.role === "user" ? (message.recalled ?? []) : [],
  );
  if (recalled.length === 0) write("No memories were recalled on this branch.");
  for (const line of recalledLines(recalled, columns, style.dim)) write(line);
}

/** Explains memory before the user turns it on: what is stored, where, and which provider gets it (S26). */
function memoryOffer({ configuration, places, model }: Pick<Host, "configuration" | "places" | "model">): string {
  const { embedModel } = configuration.settings.memory ?? {};
  const [provider = ""] = model.name.split("/", 1);
  const embedder = embedModel === undefined ? "" : `, and everything to ${visibleLine(embedModel)}`;
  return `Memory is off. When it is on, your messages and the agent's answers are kept in ${visibleLine(memoryFile(places))}, and matching parts are sent to the model of later conversations (now ${visibleLine(provider)})${embedder}. /memory agree turns it on.`;
}
