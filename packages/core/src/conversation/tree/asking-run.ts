import { type Call, isEnded, type Message } from "../message.ts";
import type { ApprovalQuestion, ConversationState, LimitQuestion, LiveRun, OpenQuestion } from "../state.ts";
import { callIn } from "./call-state.ts";

type AskerState = Pick<ConversationState, "messages" | "calls" | "runs" | "waiting" | "continuedBy">;

/**
 * Returns the run that now owns the calls of `run`. This is `run` itself, or the last run that continued its turn.
 * @example for (const run of session.state.runs.keys()) console.log(latestRun(session.state, run));
 */
export function latestRun({ continuedBy }: Pick<AskerState, "continuedBy">, run: string): string {
  let latest = run;
  for (let next = continuedBy.get(latest); next !== undefined; next = continuedBy.get(latest)) latest = next;
  return latest;
}

/**
 * Returns the runs that wait for the answer to a question: the asking run, and the runs that launched it. The list is
 * empty if a launching call already has its result, because then no run can continue. The list is also empty if the
 * asking call has its result, because then a background process of the call asks.
 * @example for (const question of session.state.questions.values()) console.log(askingRuns(session.state, question));
 */
export function askingRuns(state: AskerState, question: OpenQuestion): readonly string[] {
  const { messages, calls } = state;
  const runs = question.type === "limit" ? [question.run] : [];
  if (question.type === "text" && isEnded(callIn(state, question)?.status ?? "pending")) return runs;
  for (let at = messages.get(question.message ?? ""); at; ) {
    const run = at.role === "assistant" ? latestRun(state, at.run) : undefined;
    if (run !== undefined && !runs.includes(run)) runs.push(run);
    if (at.call === undefined) return runs;
    const launching = callIn(state, { call: at.call });
    if (!launching || isEnded(launching.status)) return [];
    at = messages.get(calls.get(at.call) ?? "");
  }
  return runs;
}

/**
 * True if a call, or a sub-agent that it launched, has asked a user.
 * @example for (const id of session.state.calls.keys()) console.log(id, hasOpenQuestion(session.state, id));
 */
export function hasOpenQuestion({ questions, messages, calls }: ConversationState, call: string): boolean {
  for (const question of questions.values()) {
    let at = question.type === "limit" ? messages.get(question.message ?? "")?.call : question.call;
    for (; at !== undefined; at = messages.get(calls.get(at) ?? "")?.call) if (at === call) return true;
  }
  return false;
}

/**
 * Returns the user's turn that waits for this question although its process has ended, or nothing.
 * @example
 * for (const question of session.state.questions.values()) console.log(turnWaitingFor(session.state, question)?.id);
 */
export function turnWaitingFor(state: AskerState, question: OpenQuestion): LiveRun | undefined {
  return state.waiting.get(askingRuns(state, question).at(-1) ?? "");
}

/**
 * Returns true if the process that asked has ended and the tool cannot run again. An answer can then no longer reach
 * the tool, and the outcome of the tool's call is unknown.
 * @example
 * const lost = [...session.state.questions.values()].filter((question) => isAskerLost(session.state, question));
 */
export function isAskerLost({ messages, runs }: AskerState, question: OpenQuestion): boolean {
  if (question.type !== "text" || question.survives !== false) return false;
  const asks = messages.get(question.message);
  // A run that continues the turn of the asking run cannot run the call again.
  return asks?.role !== "assistant" || !runs.has(asks.run);
}

export function openApproval({ questions }: ConversationState, call: string): ApprovalQuestion | undefined {
  for (const question of questions.values())
    if (question.type === "approval" && question.call === call) return question;
  return undefined;
}

export function openLimit({ questions }: ConversationState, run: string): LimitQuestion | undefined {
  for (const question of questions.values()) {
    if (question.type === "limit" && question.run === run && question.offers === undefined) return question;
  }
  return undefined;
}

/**
 * True if a live run can do nothing before a user answers: it is at its limit, or each of its open calls waits for a
 * user. Questions that close with their process are ignored.
 */
export function isBlockedByUser(state: ConversationState, run: string): boolean {
  const { questions, messages, runs } = state;
  if (questions.size === 0) return false;
  const open = [...questions.values()].filter(({ survives }) => survives !== false);
  if (open.some((question) => question.type === "limit" && question.run === run)) return true;
  let at = messages.get(runs.get(run)?.leaf ?? "");
  while (at && at.role !== "assistant") at = messages.get(at.parentId ?? "");
  const calls = at?.calls.filter(({ status }) => !isEnded(status)) ?? [];
  const waits = ({ id }: Call) => {
    if (open.some((question) => question.type !== "limit" && question.call === id)) return true;
    const below = [...runs.values()].filter(({ call }) => call === id);
    return below.length > 0 && below.every((launched) => isBlockedByUser(state, launched.id));
  };
  return calls.length > 0 && calls.every(waits);
}

/** Returns the run that waits for a user, on a path or in the sub-agent of a call. */
export function waitingRunOn(
  { waiting }: ConversationState,
  path: readonly Message[],
  call: string | undefined,
): string | undefined {
  if (waiting.size === 0) return undefined;
  for (const run of waiting.values()) if (run.call === call && path.some(({ id }) => id === run.leaf)) return run.id;
  return undefined;
}
