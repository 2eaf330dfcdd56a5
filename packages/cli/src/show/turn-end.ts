import { runsOfTurn } from "@banyan/client/display";
import { cacheMissText, describeBrokenTurn, formatSeconds, formatSpent } from "@banyan/client/words";
import type { Call, ConversationState, Event, Json, Message, RunEnd } from "@banyan/core";
import { lastAssistantMessage, newestLeaf, pathTo, textOf, totalTokens } from "@banyan/core/conversation";
import { counted, formatCost } from "@banyan/core/shown";
import { plainLine } from "./plain-text.ts";
import type { Style } from "./style.ts";

/** The event that ends a turn. */
export type TurnEnd = Extract<Event, { readonly type: "run.ended" }>;

/**
 * Describes the model, steps, tokens and cost of a turn, such as `anthropic/claude · 2 steps · 1,200 tokens in, 80 out
 * · cost $0.01`. Empty if these facts are unknown or no model was called. Names `model` if the turn has no response.
 */
export function turnLine(end: TurnEnd, state: ConversationState, model: string): string[] {
  const { spent } = end;
  if (!spent || totalTokens(spent.usage) === 0) return [];
  const steps = spent.steps > 1 ? ` · ${counted(spent.steps, "step")}` : "";
  const responses = pathTo(state, end.leaf).filter(
    (message) => message.role === "assistant" && message.run === end.run,
  );
  const misses = cacheMissText(responses);
  const said = misses === "" ? "" : ` · ${misses}`;
  return [`${lastResponse(end, state)?.model ?? model}${steps} · ${formatSpent(spent.usage, spent.cost)}${said}`];
}

/** Milliseconds from which the time alone is worth a line. */
const LONG_TURN = 30_000;

/**
 * Returns a line for a turn that changed files, cost money or took half a minute, such as `12 s, 2 files changed, $0.04`.
 * `began`: milliseconds since 1970.
 */
export function turnFacts(end: TurnEnd, state: ConversationState, began: number | undefined): string[] {
  const runs = new Set(runsOfTurn(state, end.run));
  const path = pathTo(state, end.leaf).filter((message) => message.role === "assistant" && runs.has(message.run));
  const files = countChangedFiles(callsBelow(path, state));
  const { cost = 0 } = end.spent ?? {};
  const time = began === undefined ? 0 : end.at - began;
  if (files === 0 && cost === 0 && time < LONG_TURN) return [];
  const facts = [
    ...(time < 1_000 ? [] : [formatSeconds(time)]),
    ...(files === 0 ? [] : [`${counted(files, "file")} changed`]),
    ...(cost === 0 ? [] : [formatCost(cost)]),
  ];
  return [facts.join(", ")];
}

/** The calls of messages and of the sub-agents that these calls launched. */
function callsBelow(messages: readonly Message[], state: ConversationState): Call[] {
  const calls = messages.flatMap((message) => (message.role === "assistant" ? message.calls : []));
  const launched = calls.flatMap(({ id }) => state.children.get(id) ?? []);
  const below = launched.flatMap((root) => callsBelow(pathTo(state, newestLeaf(state, root)), state));
  return [...calls, ...below];
}

function countChangedFiles(calls: readonly Call[]): number {
  const paths = new Set(calls.flatMap(({ changes = [] }) => changes.map(({ path }) => path)));
  return calls.reduce((count, { changedFiles = 0 }) => count + changedFiles, paths.size);
}

/** Advice to a user of the chat for a request that is too long for the model. */
const TOO_LONG = " Go back to an earlier message with /tree or /rewind.";

/** Explains why a run ended without a complete answer. `why`: the reason from the provider, a limit or the loop. */
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
      return `${style.bad("Failed:")} ${plainLine(why ?? describeBrokenTurn({ reason }).why)}${code === "context-overflow" ? TOO_LONG : ""}`;
    case "limit":
      return `${style.warning(plainLine(why ?? describeBrokenTurn({ reason }).why))} Reply to continue.`;
    case "answered":
    case "finished":
    case "waiting":
      return undefined;
  }
}

/** Returns the last response of a turn. Undefined without a response. */
export function lastResponse({ run, leaf }: TurnEnd, state: ConversationState) {
  const message = lastAssistantMessage(pathTo(state, leaf));
  return message?.run === run ? message : undefined;
}

/** Returns a task's result, or the text of the last response. If a limit ended the turn before a response, returns a sentence about that. */
export function turnEndText(end: TurnEnd, state: ConversationState): string {
  const message = lastResponse(end, state);
  if (end.reason === "finished") return taskResult(message);
  const said = message ? textOf(message) : "";
  return said === "" && end.limit !== undefined ? `(Stopped: the turn reached ${end.limit}.)` : said;
}

/** A task's result, which is in the call that ends the task. */
function taskResult(message: Message | undefined): string {
  const calls = message?.role === "assistant" ? message.calls : [];
  const end = calls.find(({ about, status }) => about?.result !== undefined && status === "completed");
  const input = (end?.executedInput ?? end?.input ?? {}) as Readonly<Record<string, Json>>;
  const { [end?.about?.result ?? ""]: result = "" } = input;
  return typeof result === "string" ? result : JSON.stringify(result);
}
