import type { ApprovalMode } from "@banyan/host";
import { optionWords, ownCommand } from "@banyan/host/own-command";
import { approvalSentence } from "../chat/views/approval-mode.ts";
import { plainLine } from "../show/plain-text.ts";
import type { ConversationContext, OwnContext } from "./command.ts";

export async function beginConversation({ write }: ConversationContext, own: OwnContext): Promise<void> {
  const old = await own.begin();
  write(
    old === undefined
      ? "This conversation is already new."
      : `New conversation. To return to the previous conversation: ${ownCommand(optionWords("--resume", old))}`,
  );
}

const SENTENCES = {
  chat: "Chat mode: it is your turn after each answer.",
  task: "Task mode: the agent works on your message until the task is finished.",
} as const;

/** Sets the mode of the next turns, and prints the mode. */
export function useMode(
  { write, turns: { mode: current, useMode } }: ConversationContext,
  mode: "chat" | "task" = current,
): void {
  if (mode !== current) useMode(mode);
  write(SENTENCES[mode]);
}

/** Sets the approval mode. Without `mode`, prints the current mode and the conversation's rules. */
export async function useApproval(context: ConversationContext, mode: ApprovalMode | undefined): Promise<void> {
  const {
    write,
    turns: { approval: current, offeredModes: offered, useApproval },
  } = context;
  if (mode === undefined) {
    write(approvalSentence(current), ...rulesHere(context));
    const modes = new Intl.ListFormat("en-GB", { type: "disjunction" }).format(offered);
    write(`Change the approval mode with /approval ${modes}. /config permissions shows your rules.`);
  } else if (mode === current) write(approvalSentence(current));
  else await useApproval(mode);
}

/** Rules that the user allowed in this conversation, one line each. */
function rulesHere({ state, screen: { style } }: ConversationContext): string[] {
  if (state.allowed.length === 0) return [];
  const rules = state.allowed.map((rule, index) => `  ${style.bold(String(index + 1))}  ${plainLine(rule)}`);
  return ["Allowed in this conversation (/approval drop N removes a rule):", ...rules];
}
