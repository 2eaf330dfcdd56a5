import { CUT_OFF } from "../conversation/broken-turn.ts";
import type { EventBody } from "../conversation/event.ts";
import { createId } from "../conversation/id.ts";
import { type AssistantMessage, isEnded } from "../conversation/message.ts";
import type { ConversationState, LiveRun, OpenQuestion } from "../conversation/state.ts";
import { askingRuns } from "../conversation/tree/asking.ts";
import { callIn, sayingCall } from "../conversation/tree/call-state.ts";
import { outlivesProcess } from "../conversation/tree/questions.ts";
import { reduce } from "../conversation/tree/reduce.ts";
import { noUsage } from "../conversation/usage.ts";
import type { TurnSpending } from "./turn-spending.ts";

/** What a crash left to say, and the runs that had more to do and wait for nobody. */
interface Recovered {
  readonly facts: readonly (EventBody & { readonly at: number })[];
  readonly interrupted: readonly LiveRun[];
}

/**
 * What a crash left to say holds at once, so that nothing looks busy and nobody writes below a response that is abandoned.
 * It is to be written with the first thing that is: to look at a conversation writes nothing. Rules that the log tells of
 * and that are not among those `allowed` here hold no more; of a log from elsewhere, nothing does (S17).
 */
export function recover(
  state: ConversationState,
  last: { readonly seq: number; readonly epoch: number },
  allowed: readonly string[] | Elsewhere,
  at = Date.now(),
  spending?: TurnSpending,
): Recovered {
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
  // Nobody of this machine was at work in a log from elsewhere: there is nothing to go on with.
  if (typeof allowed === "string") return { facts: [...facts, ...said(broughtIn(state, allowed))], interrupted: [] };
  const lost = [...new Set(state.allowed)].filter((pattern) => !allowed.includes(pattern));
  return { facts: [...facts, ...said(lost.map((pattern) => ({ type: "rule.revoked", pattern })))], interrupted };
}

/**
 * A conversation as who opens it finds it, of a log that nobody has open: what its processes left to say holds in the state,
 * which is changed in place.
 */
export function asOpened(state: ConversationState): ConversationState {
  recover(state, state, state.allowed);
  return state;
}

/**
 * What to write behind the log of a conversation that is brought in, when its events are reduced. Nothing of it is left
 * open: no run, no call, no question, no text that waits; no rule holds. The state is the one after it.
 */
export function endOfImport(state: ConversationState): readonly (EventBody & { readonly at: number })[] {
  return recover(state, state, "import").facts;
}

/**
 * What to write about runs whose process is gone, so that nothing stays busy: evidence in, facts out. They hold as soon as
 * the log is read and are written with the next event, not at once: `banyan conversations show` of a conversation that crashed
 * changes no file, and two programs that look at it find the same.
 *
 * | the log says | then |
 * |---|---|
 * | a response began, and nothing of it is there | it is abandoned |
 * | a response began, and text of it is there | it is complete as far as it came, and marked as interrupted |
 * | a run started and did not end, its last response is complete and asks for no call | it had responded |
 * | a run started and did not end, and a user is asked in it, or in a sub-agent of it | it waits for the user |
 * | any other run started and did not end | it was interrupted |
 * | a call listens, and no later response is complete | nothing came of it, and the model is told so |
 * | a call listens, and the response after it is complete | whether it did what it was to do is unknown, and the model is told so |
 * | a process stayed | it ended with the program that it belonged to |
 * | a question that only its process could take an answer to | it is closed, and a call that was asked about is cancelled |
 *
 * Calls without a result stay as they are: whoever goes on from them decides (`calls/calls.ts`). The usage of a response
 * that broke off was never told, so it counts as none.
 */
function recovery(state: ConversationState): EventBody[] {
  const events: EventBody[] = [];
  const waiting = new Set<string>();
  for (const question of state.questions.values()) {
    if (outlivesProcess(question)) for (const run of askingRuns(state, question)) waiting.add(run);
    else events.push(...closing(state, question));
  }
  for (const { id, outcome } of state.processes.values()) {
    if (outcome === undefined) events.push({ type: "process.ended", process: id, outcome: PROGRAM_GONE });
  }
  for (const run of state.runs.values()) {
    let { leaf } = run;
    const response = leaf === null ? undefined : state.messages.get(leaf);
    if (response?.role === "assistant" && response.finish === undefined) {
      const ended = endOf(response);
      events.push(ended);
      if (ended.type === "message.abandoned") leaf = response.parentId;
    }
    for (const { call, message } of state.following.values().filter((following) => following.run === run.id)) {
      events.push({ type: "call.followed", message, call, outcome: "dropped", reason: "the process stopped" });
      // One without a result runs again, and listens anew.
      if (!hasEnded(state, message, call)) continue;
      const note = createId();
      const text = heard(state, message, leaf) ? UNKNOWN : NOTHING;
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

/** The facts that close a question which nobody can be told the answer to. That of a limit goes with its run. */
function closing(state: ConversationState, question: OpenQuestion): EventBody[] {
  if (question.type === "limit") return [];
  if (question.type === "text") return [{ type: "question.answered", question: question.id, withdrawn: true }];
  const call = callIn(state, question);
  return call ? [{ type: "call.cancelled", ...sayingCall(question.message, call), output: NOBODY_GOES_ON }] : [];
}

const NOBODY_GOES_ON = "Not executed: the process stopped that asked about it, and no other one can run it.";

const PROGRAM_GONE = "the program that it belonged to stopped";
const NOTHING =
  "The process stopped before the message that was to be listened to was complete. Nothing of it was applied. Ask for it again if it is still wanted.";
const UNKNOWN =
  "The process stopped while this message was being applied; whether that took effect is unknown. Look before you go on.";

function hasEnded(state: ConversationState, message: string, id: string): boolean {
  const call = callIn(state, { call: id, message });
  return call !== undefined && isEnded(call.status);
}

/** Whether a response that a call listened to is complete: one behind the call's own, whatever was said after it. */
function heard(state: ConversationState, caller: string, leaf: string | null): boolean {
  for (let id = leaf; id !== null && id !== caller; ) {
    const message = state.messages.get(id);
    if (message?.role === "assistant") {
      return message.finish === "stop" || message.finish === "calls" || message.finish === "paused";
    }
    id = message?.parentId ?? null;
  }
  return false;
}

/**
 * Runs whose process is gone, which had more to do and wait for nobody, each with the message that stands last on its path after
 * `recovery`.
 */
function leftOpen(state: ConversationState, recovered: readonly EventBody[]): LiveRun[] {
  const ends = new Map(recovered.flatMap((event) => (event.type === "run.ended" ? [[event.run, event]] : [])));
  return [...state.runs.values()].flatMap((run) => {
    const end = ends.get(run.id);
    return end?.reason === "waiting" || hadResponded(state, run) ? [] : [{ ...run, leaf: end?.leaf ?? null }];
  });
}

function hadResponded(state: ConversationState, { id, leaf }: LiveRun): boolean {
  if (state.following.values().some(({ run }) => run === id)) return false;
  const response = leaf === null ? undefined : state.messages.get(leaf);
  return response?.role === "assistant" && response.finish === "stop" && response.calls.length === 0;
}

function endOf({ id, parts }: AssistantMessage): EventBody {
  const said = parts.filter((part) => part.type !== "call" && !("text" in part && part.text === ""));
  if (said.length === 0) {
    return { type: "message.abandoned", message: id, reason: "the process stopped before the first word" };
  }
  return { type: "message.completed", message: id, parts: said, finish: "interrupted", usage: noUsage, cost: 0 };
}

/** What the model is told of a call that was open in a log from elsewhere. */
export const BROUGHT_IN = "Not executed: this conversation was brought in from elsewhere while the call was open.";

/** How a log came here: from an export, or as a file that somebody put where conversations are kept. */
export type Elsewhere = "import" | "file";

/**
 * What to write behind a log that was written elsewhere, before anybody goes on from it: nothing that it left open can run
 * here, no text that waits is sent, no rule holds, and the marker says so.
 */
function broughtIn(state: ConversationState, how: Elsewhere): EventBody[] {
  const events: EventBody[] = [];
  for (const message of state.messages.values()) {
    if (message.role !== "assistant") continue;
    for (const call of message.calls) {
      if (isEnded(call.status)) continue;
      events.push({ type: "call.cancelled", ...sayingCall(message.id, call), output: BROUGHT_IN });
    }
  }
  for (const { id, leaf } of state.waiting.values())
    events.push({ type: "run.ended", run: id, reason: "interrupted", leaf });
  for (const { id } of state.inbox) events.push({ type: "input.withdrawn", input: id });
  for (const pattern of new Set(state.allowed)) events.push({ type: "rule.revoked", pattern });
  events.push({ type: "conversation.brought-in", how });
  return events;
}
