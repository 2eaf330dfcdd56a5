import { ID_RULE } from "../conversation/id.ts";

/** Why a run was interrupted: by a user, because nobody reads it any more, or because the session closed. */
export class Interruption extends Error {
  override readonly name = "Interruption";
  /** Nobody meant the turn: its reader or its session goes. Where a user is asked, the turn waits on without a process. */
  readonly isLeaving: boolean;

  constructor(message: string, { isLeaving = false } = {}) {
    super(message);
    this.isLeaving = isLeaving;
  }
}

/** Nobody meant the run: its session was closed under it. */
export const SESSION_CLOSED = new Interruption("the session closed", { isLeaving: true });

/** Whether a signal has aborted because a reader or a session goes, and not because a user or a limit ends the turn. */
export function isLeft({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof Interruption && reason.isLeaving;
}

/**
 * `closed`: by `close()`. `broken`: its store failed, and nothing can be written any more. `no-log`: it keeps no log to go
 * back in. `behind`: the reader of a feed was too slow. `no-question`: the question was answered or withdrawn before.
 * `no-run`: the run is not live. `no-input`: the text was delivered or withdrawn before. `no-message`: there is none of
 * that id. `no-call`, `no-process`: the same of a call, and of a process that runs. `busy`: a turn has the end of the branch. `empty`: there is neither text nor a
 * file in it. `invalid-option`: what was passed cannot be; the message says what is wrong with it.
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

/** A session cannot do what was asked. */
export class SessionError extends Error {
  override readonly name = "SessionError";
  readonly code: SessionErrorCode;

  constructor(code: SessionErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/**
 * An answer that its question cannot take, such as changed arguments with which the call cannot run: the message says why,
 * to whoever wrote it. The question stays open.
 */
export class UnfitAnswerError extends TypeError {
  override readonly name = "UnfitAnswerError";
}

export function noRun(run: string): SessionError {
  return new SessionError("no-run", `No run ${run} is live; say it with agent.chat(say(...)) instead.`);
}

export function noInput(input: string): SessionError {
  return new SessionError("no-input", `No text ${input} waits; it may have been delivered or withdrawn.`);
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
  return new SessionError("busy", `A turn is at work ${where}, or about to begin; wait for it, or interrupt it.`);
}

export function stillAsked(question: string): SessionError {
  return new SessionError(
    "busy",
    `A process still works on the turn that asks question ${question}; answer it with session.answer(...).`,
  );
}

/** `what` has it, such as "a conversation". */
export function noId(what: string, given: unknown): SessionError {
  const said = typeof given === "string" ? JSON.stringify(given.slice(0, 200)) : typeof given;
  return new SessionError("invalid-option", `The id of ${what} is ${ID_RULE}; this is ${said}.`);
}

export function noStore(given: unknown): SessionError {
  const what = given instanceof Promise ? "a promise: await it" : given === null ? "null" : typeof given;
  return new SessionError(
    "invalid-option",
    `A session needs a store, as sqliteStore() of @banyan/store/sqlite or memoryStore() of @banyan/store/memory make; this is ${what}.`,
  );
}
