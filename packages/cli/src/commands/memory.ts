import { pathTo } from "@banyan/core";
import { visibleLine } from "@banyan/core/shown";
import { type Host, memoryFile } from "@banyan/host";
import { recalledLines } from "../show/memory-lines.ts";
import { ASK, type Command, type ConversationContext } from "./command.ts";

export const memory: Command = {
  name: "memory",
  takes: "[agree | on | off | drop n | use n]",
  help: "show what was recalled into this conversation, drop an entry of it, or switch memory on or off for it",
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
    } else if (argument !== "") {
      if (!(await drop(context, argument)))
        context.write(`/memory shows what was recalled; ${DROPPING}; /memory on and /memory off switch it.`);
    } else {
      list(context);
      if (context.session && !(await kept.isOn(context.session.id)))
        context.write("Memory is off for this conversation; /memory on switches it on.");
    }
    return ASK;
  },
};

/** At a server. */
export const memoryHere: Command<ConversationContext> = {
  name: "memory",
  takes: "[drop n | use n]",
  help: "show what was recalled into this conversation, or drop an entry of it",
  async run(context, argument) {
    if (argument === "") list(context);
    else if (!(await drop(context, argument))) context.write(`/memory shows what was recalled; ${DROPPING}.`);
    return ASK;
  },
};

/** For who may only watch (S28). */
export const memoryShown: Command<ConversationContext> = {
  name: "memory",
  help: "show what was recalled into this conversation",
  run(context) {
    list(context);
    return ASK;
  },
};

const DROPPING = "/memory drop n keeps entry n from the model, /memory use n does not";

/** What was recalled on the branch, in its order. */
function recalledOn({ state, leaf }: ConversationContext) {
  return pathTo(state, leaf).flatMap((message) =>
    message.role === "user"
      ? (message.recalled ?? []).map((entry, item) => ({ message: message.id, item, entry }))
      : [],
  );
}

function list(context: ConversationContext): void {
  const { columns, style, write } = context;
  const recalled = recalledOn(context).map(({ entry }) => entry);
  if (recalled.length === 0) write("Nothing was recalled on this branch.");
  for (const line of recalledLines(recalled, columns, style.dim)) write(line);
}

/** Has the model not told an entry any more, or again; returns whether it was asked to. */
async function drop(context: ConversationContext, argument: string): Promise<boolean> {
  const [, what, number] = /^(drop|use) +(\d{1,6})$/.exec(argument) ?? [];
  if (what === undefined) return false;
  const entry = recalledOn(context)[Number(number) - 1];
  if (!entry) {
    context.write(`No entry ${number} was recalled on this branch.`);
    return true;
  }
  await context.session?.perform("memory.dismiss", {
    message: entry.message,
    item: entry.item,
    dismissed: what === "drop",
  });
  context.write(
    what === "drop"
      ? `The model is not told entry ${number} any more, from its next answer on, and it is not recalled again on this branch.`
      : `The model is told entry ${number} again, from its next answer on.`,
  );
  return true;
}

/** What a person agrees to when they switch memory on: what is kept, where, and who is sent what (S26). */
export function memoryOffer({
  configuration,
  places,
  model,
}: Pick<Host, "configuration" | "places" | "model">): string {
  const { embedModel } = configuration.settings.memory ?? {};
  const [provider = ""] = model.name.split("/", 1);
  const embedder = embedModel === undefined ? "" : `, and all of it to ${visibleLine(embedModel)}`;
  return `Memory is off: with it, what you and the agent say is kept in ${visibleLine(memoryFile(places))}, and what fits is sent to the model of later conversations (now ${visibleLine(provider)})${embedder}; /memory agree switches it on for good.`;
}
