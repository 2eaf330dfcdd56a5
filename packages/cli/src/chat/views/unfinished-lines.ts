import { type ConversationState, textOf } from "@banyan/core";
import { isEnded, type LiveRun } from "@banyan/core/conversation";
import { callBegin } from "../../show/call-line.ts";
import { lastLines, wrapSentence } from "../../show/fit-text.ts";
import { waitingLine } from "../../show/message-label.ts";
import type { Style } from "../../show/style.ts";

const ANSWER_LINES = 3;

/** A conversation, and runs that a stopped process left unfinished. */
export interface UnfinishedConversation {
  readonly state: ConversationState;
  readonly interrupted: readonly LiveRun[];
}

/** Describes what a stopped process left unfinished (B24): runs, partial answers and queued messages, one line each. */
export function unfinishedLines(session: UnfinishedConversation, columns: number, style: Style): string[] {
  const { state, interrupted } = session;
  const lines = interrupted.flatMap((run) => interruptionLines(state, run, columns, style));
  const waiting = state.inbox.map((input) => style.dim(waitingLine({ ...input, held: true }, columns)));
  if (interrupted.length > 0) {
    const how = "/resume continues the work. Or write what to do instead. Nothing continues by itself.";
    waiting.push(wrapSentence(style.warning(how), columns));
  }
  return [...lines, ...waiting];
}

function interruptionLines(state: ConversationState, { leaf }: LiveRun, columns: number, style: Style): string[] {
  const head = (what: string) => style.warning(`The agent was interrupted ${what}.`);
  const message = leaf === null ? undefined : state.messages.get(leaf);
  if (message?.role !== "assistant") return [head("before it answered")];
  if (message.finish === undefined || message.finish === "interrupted") {
    const said = lastLines(textOf(message), ANSWER_LINES, columns - 4);
    return [head("while it answered"), ...said.map((line) => `    ${line}`)];
  }
  const open = message.calls.filter(({ status }) => !isEnded(status));
  if (open.length === 0) return [head("between two model calls")];
  const calls = open.map(
    (call) => `${callBegin(call, style, columns)}${style.warning(WORDS[call.status] ?? call.status)}`,
  );
  return [head("while it worked"), ...calls];
}

const WORDS: Readonly<Record<string, string>> = {
  pending: "had not started",
  "approval-requested": "waited for you",
  executing: "was running",
};
