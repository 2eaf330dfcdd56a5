import { CUT_OFF } from "../conversation/broken-turn.ts";
import type { EventBody } from "../conversation/event.ts";
import { createId } from "../conversation/id.ts";
import { type AssistantMessage, isEnded } from "../conversation/message.ts";
import type { ConversationState, LiveRun, OpenQuestion } from "../conversation/state.ts";
import { askingRuns } from "../conversation/tree/asking-run.ts";
import { callFields, callIn } from "../conversation/tree/call-state.ts";
import { survivesProcess } from "../conversation/tree/questions.ts";
import { reduce } from "../conversation/tree/reduce.ts";
import { noUsage } from "../conversation/usage.ts";
import type { TurnSpending } from "./turn-spending.ts";

/** Events that a crash left unwritten, and the interrupted runs that had more to do. */
interface CrashRecovery {
  readonly facts: readonly (EventBody & { readonly at: number })[];
  readonly interrupted: readonly LiveRun[];
}

/**
 * Applies the events that a crash left unwritten. The caller must write these events before the next event. Of the
 * log's rules, only those in `allowed` stay; for an imported log, none does (S17).
 */
export function recover(
  state: ConversationState,
  last: { readonly seq: number; readonly epoch: number },
  allowed: readonly string[] | LogOrigin,
  at = Date.now(),
  spending?: TurnSpending,
): CrashRecovery {
  let { seq } = last;
  const said = (bodies: readonly EventBody[]) => {
    const facts = bodies.map((body) => ({ ...body, at }));
    for (const fact of facts) {
      const event = { ...fact, seq: ++seq, epoch: last.epoch };
      reduce(state, event);
      spending?.hear(event);
    }
    return facts;
  };
  const recovered = recovery(state);
  const interrupted = leftOpen(state, recovered);
  const facts = said(recovered);
  // No process of this machine worked on an imported log, so no run can continue.
  if (typeof allowed === "string") return { facts: [...facts, ...said(broughtIn(state, allowed))], interrupted: [] };
  const lost = [...new Set(state.allowed)].filter((pattern) => !allowed.includes(pattern));
  return { facts: [...facts, ...said(lost.map((pattern) => ({ type: "rule.revoked", pattern })))], interrupted };
}

/**
 * Applies the events that stopped processes left unwritten to `state`. No process may have the log open.
 * @example const state = recoveredState(emptyConversation("garden"));
 */
export function recoveredState(state: ConversationState): ConversationState {
  recover(state, state, state.allowed);
  return state;
}

/**
 * Returns the events to append to an imported log. They close every run, call, question and input, and revoke all
 * rules. The state then contains these events.
 * @example for (const event of endOfImport(emptyConversation("garden"))) console.log(event.type);
 */
export function endOfImport(state: ConversationState): readonly (EventBody & { readonly at: number })[] {
  return recover(state, state, "import").facts;
}

/**
 * Returns the events about runs of stopped processes, so that no run stays busy. They apply as soon as the log is read,
 * but are written with the next event: `banyan conversations show` changes no file after a crash.
 *
 * | the log contains | then |
 * |---|---|
 * | a response began without content | it is abandoned |
 * | a response began with some text | it is completed with this text, and marked as interrupted |
 * | an unfinished run without a goal, whose last response is complete and has no call | it had responded |
 * | an unfinished run that asks a user, also by a sub-agent | it waits for the user |
 * | any other unfinished run | it was interrupted |
 * | a call follows, and no later response is complete | the model learns that the call did not act |
 * | a call follows, and the response after it is complete | the model learns that the effect is unknown |
 * | a background process | it ended with its program |
 * | a question whose answer only its process could receive | it is closed, and its call is cancelled |
 *
 * Calls without a result stay open: the next run decides about them (`calls/calls.ts`). The usage of a broken response
 * was never reported, so it counts as zero.
 */
function recovery(state: ConversationState): EventBody[] {
  const events: EventBody[] = [];
  const waiting = new Set<string>();
  for (const question of state.questions.values()) {
    if (survivesProcess(question)) for (const run of askingRuns(state, question)) waiting.add(run);
    else events.push(...closing(state, question));
  }
  for (const { id, outcome } of state.processes.values()) {
    if (outcome === undefined) events.push({ type: "process.ended", process: id, outcome: PROGRAM_GONE });
  }
  for (const run of state.runs.values()) {
    let { leaf } = run;
    const response = leaf === null ? undefined : state.messages.get(leaf);
    if (response?.role === "assistant" && response.finish === undefined) {
      const ended = interruptedResponse(response);
      events.push(ended);
      if (ended.type === "message.abandoned") leaf = response.parentId;
    }
    for (const { call, message } of state.following.values().filter((following) => following.run === run.id)) {
      events.push({ type: "call.followed", message, call, outcome: "dropped", reason: "the process stopped" });
      // A call without a result runs again, and registers a new follower.
      if (!hasCallEnded(state, message, call)) continue;
      const note = createId();
      const text = hasHeardResponse(state, message, leaf) ? UNKNOWN : NOTHING;
      events.push({
        type: "message.added",
        message: note,
        parentId: leaf,
        role: "user",
        author: "tool",
        parts: [{ type: "text", text }],
      });
      leaf = note;
    }
    const ended = { type: "run.ended", run: run.id, leaf } as const;
    if (waiting.has(run.id)) events.push({ ...ended, reason: "waiting" });
    else if (hadResponded(state, run)) events.push({ ...ended, reason: "answered" });
    else events.push({ ...ended, reason: "interrupted", error: CUT_OFF });
  }
  return events;
}

/** Returns the events that close a question without a possible answer. A limit question closes with its run. */
function closing(state: ConversationState, question: OpenQuestion): EventBody[] {
  if (question.type === "limit") return [];
  if (question.type === "text") return [{ type: "question.answered", question: question.id, withdrawn: true }];
  const call = callIn(state, question);
  return call ? [{ type: "call.cancelled", ...callFields(question.message, call), output: NOBODY_GOES_ON }] : [];
}

const NOBODY_GOES_ON =
  "Not executed: the process that asked about this call stopped, and no other process can run the call.";

const PROGRAM_GONE = "the program that started the process stopped";
const NOTHING =
  "The process stopped before your message was complete, so no part of the message was applied. Write the message again if it is still wanted.";
const UNKNOWN =
  "The process stopped while your message was being applied; whether the message took effect is unknown. Check before you continue.";

function hasCallEnded(state: ConversationState, message: string, id: string): boolean {
  const call = callIn(state, { call: id, message });
  return call !== undefined && isEnded(call.status);
}

/** True if a response after that of the following call is complete, whatever messages follow it. */
function hasHeardResponse(state: ConversationState, caller: string, leaf: string | null): boolean {
  for (let id = leaf; id !== null && id !== caller; ) {
    const message = state.messages.get(id);
    if (message?.role === "assistant") {
      return message.finish === "stop" || message.finish === "calls" || message.finish === "paused";
    }
    id = message?.parentId ?? null;
  }
  return false;
}

/** Returns the stopped runs that had more to do and wait for no user, with their leaf after `recovery`. */
function leftOpen(state: ConversationState, recovered: readonly EventBody[]): LiveRun[] {
  const ends = new Map(recovered.flatMap((event) => (event.type === "run.ended" ? [[event.run, event]] : [])));
  return [...state.runs.values()].flatMap((run) => {
    const end = ends.get(run.id);
    return end?.reason === "waiting" || hadResponded(state, run) ? [] : [{ ...run, leaf: end?.leaf ?? null }];
  });
}

function hadResponded(state: ConversationState, { id, leaf, goal }: LiveRun): boolean {
  // Only the checks of a goal decide that its turn is done.
  if (goal) return false;
  if (state.following.values().some(({ run }) => run === id)) return false;
  const response = leaf === null ? undefined : state.messages.get(leaf);
  return response?.role === "assistant" && response.finish === "stop" && response.calls.length === 0;
}

function interruptedResponse({ id, parts }: AssistantMessage): EventBody {
  const said = parts.filter((part) => part.type !== "call" && !("text" in part && part.text === ""));
  if (said.length === 0) {
    return { type: "message.abandoned", message: id, reason: "the process stopped before the first word" };
  }
  return { type: "message.completed", message: id, parts: said, finish: "interrupted", usage: noUsage, cost: 0 };
}

export const BROUGHT_IN = "Not executed: this conversation was imported while the call had no result.";

/** Origin of a log from elsewhere: an import, or a file copied into the store. */
export type LogOrigin = "import" | "file";

/** Closes an imported log: cancels open calls, withdraws inputs, revokes rules, and marks the import. */
function broughtIn(state: ConversationState, how: LogOrigin): EventBody[] {
  const events: EventBody[] = [];
  for (const message of state.messages.values()) {
    if (message.role !== "assistant") continue;
    for (const call of message.calls) {
      if (isEnded(call.status)) continue;
      events.push({ type: "call.cancelled", ...callFields(message.id, call), output: BROUGHT_IN });
    }
  }
  for (const { id, leaf } of state.waiting.values())
    events.push({ type: "run.ended", run: id, reason: "interrupted", leaf });
  for (const { id } of state.inbox) events.push({ type: "input.withdrawn", input: id });
  for (const pattern of new Set(state.allowed)) events.push({ type: "rule.revoked", pattern });
  events.push({ type: "conversation.brought-in", how });
  return events;
}
