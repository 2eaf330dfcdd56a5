import { ID_RULE } from "../conversation/id.ts";

/**
 * Why a run was interrupted: a user stopped it, its last reader left, or the session was closed.
 * @example
 * agent.send("Hello", { signal: AbortSignal.abort() }).catch((error) => console.log(error instanceof Interruption));
 */
export class Interruption extends Error {
  override readonly name = "Interruption";
  /** True if no user stopped the turn. A turn that asks a user then stays open, without a process. */
  readonly isLeaving: boolean;

  constructor(message: string, { isLeaving = false } = {}) {
    super(message);
    this.isLeaving = isLeaving;
  }
}

export const SESSION_CLOSED = new Interruption("the session closed", { isLeaving: true });

/** True if a signal aborted because the reader left or the session closed, and not by a user or a limit. */
export function isReaderGone({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof Interruption && reason.isLeaving;
}

/**
 * Kind of failure of a session. `closed`: `close()` was called. `broken`: the store failed, so nothing can be written.
 * `no-log`: the session has no log to read from. `behind`: the reader of a feed was too slow. `no-question`: the
 * question is answered or withdrawn. `no-run`: the run is not live. `no-input`: the input is delivered or withdrawn.
 * `no-message`, `no-call`: unknown id. `no-process`: no such process runs. `busy`: a turn works at the end of the
 * branch. `empty`: neither text nor a file. `invalid-option`: the message names the option and its fault.
 * See {@link SessionError}.
 */
export type SessionErrorCode =
  | "closed"
  | "broken"
  | "no-log"
  | "behind"
  | "no-question"
  | "no-run"
  | "no-input"
  | "no-message"
  | "no-call"
  | "no-process"
  | "busy"
  | "empty"
  | "invalid-option";

/**
 * Error of a session that cannot carry out a request.
 * @example session.say("Hello").catch((error) => error instanceof SessionError && console.log(error.code));
 */
export class SessionError extends Error {
  override readonly name = "SessionError";
  readonly code: SessionErrorCode;

  constructor(code: SessionErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/**
 * Error of an answer that does not fit its question. For example, the call cannot run with the arguments that the user
 * changed. The message tells the user the reason. The question stays open.
 * @example session.answer("1", { decision: "allow" }).catch((error) => console.log(error instanceof UnfitAnswerError));
 */
export class UnfitAnswerError extends TypeError {
  override readonly name = "UnfitAnswerError";
}

export function noRun(run: string): SessionError {
  return new SessionError(
    "no-run",
    `The run ${run} is not active. Send the message with agent.chat(say(...)) instead.`,
  );
}

export function noInput(input: string): SessionError {
  return new SessionError("no-input", `The input ${input} is not waiting. It may have been delivered or withdrawn.`);
}

export function noEntry(message: string, item: number): SessionError {
  return new SessionError("no-message", `Memory recalled no entry ${item} for message ${message}.`);
}

export function noMessage(message: string): SessionError {
  return new SessionError("no-message", `There is no message ${message} in this conversation.`);
}

export function noCall(call: string): SessionError {
  return new SessionError("no-call", `There is no call ${call} in this conversation.`);
}

export function branchBusy(leaf: string | null): SessionError {
  const where = leaf === null ? "at the root of this conversation" : `at message ${leaf}`;
  return new SessionError(
    "busy",
    `A turn is running ${where}, or is about to begin. Wait for its end, or interrupt the turn.`,
  );
}

export function stillAskedError(question: string): SessionError {
  return new SessionError(
    "busy",
    `The turn that asks the question ${question} still runs in a process. Answer the question with session.answer(...).`,
  );
}

export function noId(what: string, given: unknown): SessionError {
  const said = typeof given === "string" ? JSON.stringify(given.slice(0, 200)) : `of type ${typeof given}`;
  return new SessionError("invalid-option", `The id of ${what} must be ${ID_RULE}; the given id is ${said}.`);
}

export function noStore(given: unknown): SessionError {
  const what = given instanceof Promise ? "a promise: await it" : given === null ? "null" : `of type ${typeof given}`;
  return new SessionError(
    "invalid-option",
    `A session needs a store, such as sqliteStore() of @banyan/store/sqlite or memoryStore() of @banyan/store/memory. The given store is ${what}.`,
  );
}
