import type { Event } from "../conversation/event.ts";
import { createId } from "../conversation/id.ts";
import type { Json } from "../conversation/message.ts";
import type { OpenQuestion } from "../conversation/state.ts";
import type { Answer } from "../ports/human.ts";
import { isLeft, SessionError, UnfitAnswerError } from "./error.ts";

/** What is wrong with arguments that a person wrote; nothing when a call can run with just them. */
export type Unfit = (input: Json) => Promise<string | undefined>;

/** A question that waits for a person. */
export interface AskedQuestion {
  readonly id: string;
  /** Resolves with the first answer; rejects with the signal's reason, and then the question is closed. */
  answer(signal: AbortSignal): Promise<Answer>;
}

/**
 * The questions of a session that wait for a person.
 *
 * ```
 * ask ──▶ waiting ──▶ answered ──▶ written into the log
 *            ├───────────┴──▶ closed, when whoever asked was aborted
 *            ╰──▶ open in the log alone, when its session or its reader goes: `Session.answer` writes the answer
 * ```
 */
export class Questions {
  readonly #waiting = new Map<
    string,
    { readonly give: (answer: Answer) => void; readonly unfit?: Unfit | undefined }
  >();
  /** Closed, but the end of their call is not in the log yet: nobody else may write one. */
  readonly #closed = new WeakSet<OpenQuestion>();
  readonly #open: ReadonlyMap<string, OpenQuestion>;
  /** Answers that are not in the log yet, by question. */
  readonly #answered = new Map<string, PromiseWithResolvers<void>>();
  /** The same, of questions that nobody in this process asked. */
  readonly #writing = new Map<string, Promise<void>>();

  /** @param open The questions of the conversation that its log leaves open. */
  constructor(open: ReadonlyMap<string, OpenQuestion>) {
    this.#open = open;
  }

  /** Whether whoever asked it in this process is about to write how that ends, though it takes no answer any more. */
  isClosed(question: OpenQuestion): boolean {
    return this.#closed.has(question);
  }

  /** Whether somebody of this process asked it, and its answer is not in the log yet. */
  isAsked(question: string): boolean {
    return this.#waiting.has(question) || this.#answered.has(question);
  }

  /**
   * Resolves when the answer is in the log; rejects with `SessionError` when the question is not open (any more), and with
   * `UnfitAnswerError` when whoever asked cannot take the answer: then it stays open.
   */
  async answer(question: string, answer: Answer): Promise<void> {
    const waiting = this.#waiting.get(question);
    if (waiting?.unfit && answer.decision === "allow" && answer.input !== undefined) {
      const problem = await waiting.unfit(answer.input);
      if (problem !== undefined) throw new UnfitAnswerError(problem);
    }
    // Somebody else may have answered meanwhile.
    if (!waiting || !this.#waiting.delete(question)) throw notOpen(question);
    const logged = Promise.withResolvers<void>();
    this.#answered.set(question, logged);
    waiting.give(answer);
    return logged.promise;
  }

  /** Writes an answer to a question that no process waits on: the first one counts. Rejects as `answer` does, and as `write`. */
  async answerInLog(question: string, write: () => void | Promise<void>): Promise<void> {
    if (this.#writing.has(question)) throw notOpen(question);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#writing.set(question, promise);
    try {
      await write();
    } finally {
      this.#writing.delete(question);
      resolve();
    }
  }

  /** Resolves when the answer that `answerInLog` writes is in the log, or was refused; nothing when it writes none. */
  answering(question: string): Promise<void> | undefined {
    return this.#writing.get(question);
  }

  /** With `unfit`, arguments that a user wrote are looked at before they count. `id`: of a question that is open already. */
  ask(unfit?: Unfit, id = createId()): AskedQuestion {
    const given = Promise.withResolvers<Answer>();
    this.#waiting.set(id, { give: given.resolve, unfit });
    const close = (isLeaving: boolean) => {
      this.#waiting.delete(id);
      const open = this.#open.get(id);
      if (open && !isLeaving) this.#closed.add(open);
      this.#answered.get(id)?.reject(notOpen(id));
      this.#answered.delete(id);
    };
    return {
      id,
      answer: (signal) =>
        new Promise((answered, reject) => {
          const abort = () => {
            close(isLeft(signal));
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

  /** An event was appended: what answered its question, if it has one, is in the log once `written` is done. */
  written(event: Event, written: void | Promise<void>): void {
    if (this.#answered.size === 0 || !("question" in event)) return;
    const { question } = event;
    const logged = this.#answered.get(question);
    this.#answered.delete(question);
    logged?.resolve(written);
  }
}

/** An answer as it can be written down. Throws `UnfitAnswerError` when it does not fit a question of its type. */
export function fittingAnswer(answer: Answer, type: OpenQuestion["type"] | undefined): Answer {
  const { decision } = answer;
  const fitting = type === "text" ? "answer" : "allow";
  if (decision !== fitting && decision !== "deny") {
    throw new UnfitAnswerError(
      `An answer to this question has the decision "${fitting}" or "deny", not "${decision}".`,
    );
  }
  if (type === "limit" && decision === "allow" && (answer.input !== undefined || answer.remember !== undefined)) {
    throw new UnfitAnswerError('The question about a limit takes "allow" or "deny", without arguments or a rule.');
  }
  if (decision !== "allow" || answer.input === undefined) return answer;
  const input = JSON.stringify(answer.input);
  if (input === undefined) throw new UnfitAnswerError("The arguments in an answer must be JSON.");
  return { ...answer, input: JSON.parse(input) };
}

/** Nobody waits for an answer to this question. */
export function notOpen(question: string): SessionError {
  return new SessionError("no-question", `No question ${question} is open; it may have been answered or withdrawn.`);
}
