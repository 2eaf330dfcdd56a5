import { resume } from "@banyan/core";
import type { WaitingInput } from "@banyan/core/conversation";
import { waitingLine, waitingText, waitingWord } from "../show/message-label.ts";
import { ASK, type Command, type ConversationContext, type Next } from "./command.ts";

export const waiting: Command<ConversationContext> = {
  name: "waiting",
  takes: "[drop n | edit n text | first n | send]",
  help: "list what you wrote and the agent has not got yet; take it back, change it, send what was held",
  anytime: true,
  async run(context, argument) {
    const { state, write } = context;
    const [, action = "", number, text = ""] = /^(\S*)(?:\s+#?(\d+))?(?:\s+(.*))?$/s.exec(argument) ?? [];
    if (state.inbox.length === 0) write("Nothing waits.");
    else if (argument === "") list(context);
    else if (argument === "send") return send(context);
    else {
      const input = number === undefined ? undefined : state.inbox[Number(number) - 1];
      if (!input) write(`Name one of them by its number, as in /waiting ${action || "drop"} 1. /waiting lists them.`);
      else await change(context, input, action, text);
    }
    return ASK;
  },
};

function list({ state, columns, style, write }: ConversationContext): void {
  const width = Math.max(...state.inbox.map((input) => waitingWord(input).length));
  for (const [index, input] of state.inbox.entries()) {
    const head = `${String(index + 1).padStart(3)}  ${waitingWord(input).padEnd(width)}  `;
    write(`${style.dim(head)}${waitingText(input, Math.max(20, columns - head.length))}`);
  }
}

async function change(context: ConversationContext, input: WaitingInput, action: string, text: string): Promise<void> {
  const { session, state, columns, style, write } = context;
  switch (action) {
    case "drop":
      await session?.perform("input.withdraw", { input: input.id });
      write(style.dim(`dropped: ${waitingText(input, columns - 9)}`));
      break;
    case "edit": {
      if (text.trim() === "") return write("Write the new text behind the number; /waiting drop takes it back.");
      const parts = [{ type: "text", text }] as const;
      await session?.perform("input.edit", { input: input.id, parts });
      write(style.dim(waitingLine({ ...input, parts }, columns)));
      break;
    }
    case "first": {
      const [first] = state.inbox;
      if (first && first.id !== input.id) await session?.perform("input.edit", { input: input.id, before: first.id });
      list(context);
      break;
    }
    default:
      write(`/waiting cannot ${action}: it knows drop, edit, first and send.`);
  }
}

/** Delivers what was held: to the run under way, or in a turn of its own. */
async function send({ state, session, run, columns, style, write }: ConversationContext): Promise<Next> {
  if (run === undefined) return { type: "turn", directive: resume() };
  const held = state.inbox.filter((input) => input.held);
  if (held.length === 0) write("Nothing is held: what waits is delivered by itself.");
  for (const input of held) {
    await session?.perform("input.edit", { input: input.id, run });
    write(style.dim(waitingLine({ ...input, held: false }, columns)));
  }
  return ASK;
}
