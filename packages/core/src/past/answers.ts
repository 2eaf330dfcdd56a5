import type { EventBody } from "../conversation/event.ts";
import type { Call } from "../conversation/message.ts";
import type { ApprovalQuestion, ConversationState, EarlierQuestion, OpenQuestion } from "../conversation/state.ts";
import { isAskerLost } from "../conversation/tree/asking-run.ts";
import { callFields, callIn } from "../conversation/tree/call-state.ts";
import type { Answer } from "../ports/verdict.ts";

// Events of users' answers, and their meaning for a process that finds them in a log.

/**
 * Returns the events for a user's decision about a call that no process will run. A denial becomes the call's result.
 */
export function approvalResolved(
  { id, message, call }: ApprovalQuestion,
  answer: Answer,
  asked: Call | undefined,
): EventBody[] {
  const resolved = { type: "call.approval-resolved", message, call, question: id } as const;
  if (answer.decision !== "allow") {
    const reason = answer.decision === "deny" ? answer.reason : undefined;
    return [
      { ...resolved, allowed: false },
      { type: "call.denied", ...(asked ? callFields(message, asked) : { message, call }), output: denialText(reason) },
    ];
  }
  const { input, remember } = answer;
  // A tool may change its arguments later, but the log must not change.
  const changed = input === undefined ? {} : { input: structuredClone(input) };
  return [{ ...resolved, allowed: true, ...(remember ? { remember } : {}), ...changed }];
}

/** Returns the events for the answer to a question about a text or a limit. Only for a question without a process. */
export function answerFacts(
  state: ConversationState,
  open: Exclude<OpenQuestion, ApprovalQuestion>,
  answer: Answer,
): EventBody[] {
  const { id: question } = open;
  if (open.type === "limit") {
    const { run, offers } = open;
    const continued = { type: "run.continued", run, question, allowed: answer.decision === "allow" } as const;
    return [offers === undefined ? continued : { ...continued, offers }];
  }
  const given = answerRecord(answer);
  const answered = textAnswerEvent(question, given);
  const call = callIn(state, open);
  if (!call || !isAskerLost(state, open)) return [answered];
  const late = "text" in given ? ` The user's answer to its question came too late for it: ${given.text}` : "";
  return [answered, { type: "call.failed", ...callFields(open.message, call), output: `${OUTCOME_UNKNOWN}${late}` }];
}

export const OUTCOME_UNKNOWN = "The process stopped while this call ran; whether the call took effect is unknown.";

export function denialText(reason: string | undefined): string {
  return `The user denied this call${reason ? `: ${reason}` : "."}`;
}

/** Returns the event that closes a question to a user, because a rule or a hook has meanwhile allowed the call. */
export function decidedByRule({ id: question, message, call }: ApprovalQuestion): EventBody {
  return { type: "call.approval-resolved", message, call, question, allowed: true, byRule: true };
}

export function textAnswerEvent(question: string, answer: NonNullable<EarlierQuestion["answer"]>): EventBody {
  const said = "text" in answer ? answer : answer.declined === undefined ? {} : { reason: answer.declined };
  return { type: "question.answered", question, ...said };
}

/** Returns the stored form of a user's answer to a text question. A call that runs again gets this answer. */
export function answerRecord(answer: Answer): NonNullable<EarlierQuestion["answer"]> {
  if (answer.decision === "answer") return { text: answer.text };
  return { declined: answer.decision === "deny" ? answer.reason : undefined };
}

/** Returns the user's answer as a text for the tool. Throws if the user declined to answer. */
export function answerText(answer: NonNullable<EarlierQuestion["answer"]>): string {
  if ("text" in answer) return answer.text;
  throw new Error(`The user did not answer the question${answer.declined ? `: ${answer.declined}` : "."}`);
}

/**
 * The questions that a call asked before its process ended. If the call runs again, it asks the same questions in the
 * same order.
 */
export class RepeatedQuestions {
  readonly #state: ConversationState;
  readonly #call: string;
  #next = 0;

  constructor(state: ConversationState, call: string) {
    this.#state = state;
    this.#call = call;
  }

  /** Returns the earlier question if its text is the same, or else the events that withdraw all that remain. */
  next(text: string): { readonly known?: EarlierQuestion; readonly withdrawn: readonly EventBody[] } {
    const before = this.#state.asked.get(this.#call) ?? [];
    const from = this.#next++;
    const known = before[from];
    if (known?.text === text) return { known, withdrawn: [] };
    const withdraw = ({ question }: EarlierQuestion) =>
      ({ type: "question.answered", question, withdrawn: true }) as const;
    return { withdrawn: before.slice(from).map(withdraw) };
  }
}
