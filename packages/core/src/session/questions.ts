import type { Event } from "../conversation/event.ts";
import { createId } from "../conversation/id.ts";
import type { Json } from "../conversation/part.ts";
import { isJsonRecord, shownKind } from "../conversation/shape-problem.ts";
import type { OpenQuestion } from "../conversation/state.ts";
import type { Answer } from "../ports/verdict.ts";
import { isReaderGone, SessionError, UnfitAnswerError } from "./error.ts";

export type InputProblemCheck = (input: Json) => Promise<string | undefined>;

export interface AskedQuestion {
  readonly id: string;
  /** Resolves with the first answer. Rejects with the signal's reason, which closes the question. */
  answer(signal: AbortSignal): Promise<Answer>;
}

/**
 * A session's questions that wait for a user.
 * ```
 * ask ──▶ waiting ──▶ answered ──▶ written into the log
 *            ├───────────┴──▶ closed, when the asking call was aborted
 *            ╰──▶ open in the log alone, when its session or its reader goes: `Session.answer` writes the answer
 * ```
 */
export class Questions {
  readonly #waiting = new Map<
    string,
    { readonly give: (answer: Answer) => void; readonly unfit?: InputProblemCheck | undefined }
  >();
  /** Closed questions whose call has no end in the log yet. Only the asking run may write that end. */
  readonly #closed = new WeakSet<OpenQuestion>();
  readonly #open: ReadonlyMap<string, OpenQuestion>;
  readonly #answered = new Map<string, PromiseWithResolvers<void>>();
  /** Answers that are being written, to questions that no call of this process asked. */
  readonly #writing = new Map<string, Promise<void>>();

  /** @param open The questions that the log of the conversation leaves open. */
  constructor(open: ReadonlyMap<string, OpenQuestion>) {
    this.#open = open;
  }

  /** True if the question takes no answer any more, because its run in this process will write the end of the call. */
  isClosed(question: OpenQuestion): boolean {
    return this.#closed.has(question);
  }

  /** True if a call of this process asked the question, and its answer is not in the log yet. */
  isAsked(question: string): boolean {
    return this.#waiting.has(question) || this.#answered.has(question);
  }

  /**
   * Resolves when the answer is in the log. Rejects with `SessionError` for a question that is not open, and with
   * `UnfitAnswerError` for an answer that does not fit; the question then stays open.
   */
  async answer(question: string, answer: Answer): Promise<void> {
    const waiting = this.#waiting.get(question);
    if (waiting?.unfit && answer.decision === "allow" && answer.input !== undefined) {
      const problem = await waiting.unfit(answer.input);
      if (problem !== undefined) throw new UnfitAnswerError(problem);
    }
    // Another answer may have arrived during the check.
    if (!waiting || !this.#waiting.delete(question)) throw notOpenError(question);
    const logged = Promise.withResolvers<void>();
    this.#answered.set(question, logged);
    waiting.give(answer);
    return logged.promise;
  }

  /** Writes an answer to a question that no process waits on. Rejects as `answer` and `write` do. */
  async answerInLog(question: string, write: () => void | Promise<void>): Promise<void> {
    if (this.#writing.has(question)) throw notOpenError(question);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#writing.set(question, promise);
    try {
      await write();
    } finally {
      this.#writing.delete(question);
      resolve();
    }
  }

  /** Resolves when the answer of `answerInLog` was written or refused. Nothing: no answer is being written. */
  answering(question: string): Promise<void> | undefined {
    return this.#writing.get(question);
  }

  /** `unfit` checks arguments that a user wrote. `id`: a question that is already open. */
  ask(unfit?: InputProblemCheck, id = createId()): AskedQuestion {
    const given = Promise.withResolvers<Answer>();
    this.#waiting.set(id, { give: given.resolve, unfit });
    const close = (isLeaving: boolean) => {
      this.#waiting.delete(id);
      const open = this.#open.get(id);
      if (open && !isLeaving) this.#closed.add(open);
      this.#answered.get(id)?.reject(notOpenError(id));
      this.#answered.delete(id);
    };
    return {
      id,
      answer: (signal) =>
        new Promise((answered, reject) => {
          const abort = () => {
            close(isReaderGone(signal));
            reject(signal.reason);
          };
          if (signal.aborted) return abort();
          signal.addEventListener("abort", abort, { once: true });
          given.promise.then((answer) => {
            signal.removeEventListener("abort", abort);
            answered(answer);
          }, reject);
        }),
    };
  }

  /** Settles `answer` for the question of an appended event, once `written` has resolved. */
  written(event: Event, written: void | Promise<void>): void {
    if (this.#answered.size === 0 || !("question" in event)) return;
    const { question } = event;
    const logged = this.#answered.get(question);
    this.#answered.delete(question);
    logged?.resolve(written);
  }
}

/** Returns an answer as the log stores it. Throws `UnfitAnswerError` if it does not fit the question's type. */
export function fittingAnswer(answer: Answer, type: OpenQuestion["type"] | undefined): Answer {
  if (!isJsonRecord<Answer>(answer))
    throw new UnfitAnswerError(`An answer must be an object, such as { decision: "deny" }, not ${shownKind(answer)}.`);
  const { decision } = answer;
  const fitting = type === "text" ? "answer" : "allow";
  if (decision !== fitting && decision !== "deny") {
    throw new UnfitAnswerError(
      `The answer to this question must have the decision "${fitting}" or "deny", not "${decision}".`,
    );
  }
  if (type === "limit" && decision === "allow" && (answer.input !== undefined || answer.remember !== undefined)) {
    throw new UnfitAnswerError('Answer a question about a limit with "allow" or "deny", without arguments or a rule.');
  }
  if (decision !== "allow" || answer.input === undefined) return answer;
  const input = JSON.stringify(answer.input);
  if (input === undefined) throw new UnfitAnswerError("The arguments in an answer must be JSON.");
  return { ...answer, input: JSON.parse(input) };
}

export function notOpenError(question: string): SessionError {
  return new SessionError(
    "no-question",
    `The question ${question} is not open. It may have been answered or withdrawn.`,
  );
}
