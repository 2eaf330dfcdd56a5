import type { ConversationState, Event, Json, Message, RunEnd } from "@banyan/core";
import { lastAssistantMessage, pathTo, textOf, toldBreak, totalTokens } from "@banyan/core/conversation";
import { counted, formatSpent } from "@banyan/core/shown";
import { oneLine } from "./plain-text.ts";
import type { Style } from "./style.ts";

/** The end of a turn, as the feed tells it. */
export type TurnEnd = Extract<Event, { readonly type: "run.ended" }>;

/**
 * `anthropic/claude · 2 steps · 1,200 tokens in, 80 out · cost $0.01`: what a turn took; no line when no model was asked, or
 * nobody knows. `model`: which one is named when the turn came to no response.
 */
export function turnLine(end: TurnEnd, state: ConversationState, model: string): string[] {
  const { spent } = end;
  if (!spent || totalTokens(spent.usage) === 0) return [];
  const steps = spent.steps > 1 ? ` · ${counted(spent.steps, "step")}` : "";
  return [`${lastResponse(end, state)?.model ?? model}${steps} · ${formatSpent(spent.usage, spent.cost)}`];
}

/** Advice to a user of the chat for a request that is too long for the model. */
const TOO_LONG = " Go back to an earlier message with /tree or /rewind.";

/** Says why a run ended, when it did not simply answer. `why`: what the model's service, a limit or the loop said. */
export function runEndSentence(
  reason: RunEnd,
  why: string | undefined,
  style: Style,
  code?: string,
): string | undefined {
  switch (reason) {
    case "interrupted":
      return style.warning("Stopped. Your turn.");
    case "failed":
      return `${style.bad("Failed:")} ${oneLine(why ?? toldBreak({ reason }).why)}${code === "context-overflow" ? TOO_LONG : ""}`;
    case "limit":
      return `${style.warning(oneLine(why ?? toldBreak({ reason }).why))} Reply to continue.`;
    case "answered":
    case "finished":
    case "waiting":
      return undefined;
  }
}

/** The last response of a turn; nothing when the model said nothing at all. */
export function lastResponse({ run, leaf }: TurnEnd, state: ConversationState) {
  const message = lastAssistantMessage(pathTo(state, leaf));
  return message?.run === run ? message : undefined;
}

/** What a turn came to, as a text: the result of a task, else its last response; at a limit without one, a sentence. */
export function textAtEnd(end: TurnEnd, state: ConversationState): string {
  const message = lastResponse(end, state);
  if (end.reason === "finished") return taskResult(message);
  const said = message ? textOf(message) : "";
  return said === "" && end.limit !== undefined ? `(Stopped: the turn reached ${end.limit}.)` : said;
}

/** What a task came to: the call that ends it says so, and no message. */
function taskResult(message: Message | undefined): string {
  const calls = message?.role === "assistant" ? message.calls : [];
  const end = calls.find(({ about, status }) => about?.result !== undefined && status === "completed");
  const input = (end?.executedInput ?? end?.input ?? {}) as Readonly<Record<string, Json>>;
  const { [end?.about?.result ?? ""]: result = "" } = input;
  return typeof result === "string" ? result : JSON.stringify(result);
}
