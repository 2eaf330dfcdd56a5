import type { ConversationState } from "@banyan/core";
import { callIn, isEnded } from "@banyan/core/conversation";
import { visibleProse } from "@banyan/core/shown";
import { excerpt } from "../../show/fit-text.ts";
import type { FeedView } from "../../terminal/feed-view.ts";
import type { Question, Terminal } from "../../terminal/terminal.ts";
import type { Unsent, UnsentAnswer } from "./unsent.ts";

/** Characters of what was not sent that are shown where the history has all of it. */
const SHOWN = 200;

/**
 * What a person writes in answer to what the agent asks (T19). It is kept until the answer is in the log; what is not in
 * it goes where a prompt goes that is cleared: into the history.
 *
 * ```
 * typed ──▶ kept ──given──▶ in the log: forgotten here
 *            │ ├── not given, or answered elsewhere ──▶ in the history
 *            ╰── the process ends ──▶ there when the same call asks the same again, else in the history
 * ```
 */
export class Answering {
  readonly #terminal: Terminal;
  readonly #view: FeedView;
  readonly #unsent: Unsent | undefined;

  /** Without `unsent`, nothing of it outlives the process. */
  constructor(terminal: Terminal, view: FeedView, unsent?: Unsent) {
    this.#terminal = terminal;
    this.#view = view;
    this.#unsent = unsent;
  }

  /** A call asks. */
  begin({ id }: ConversationState, call: string): WrittenAnswer {
    return new WrittenAnswer(
      (what) => this.#unsent?.answering(id, { call, what }),
      (text) => this.#putAside(text),
    );
  }

  /** Puts aside what processes before had left in answer to calls that have ended; answers whether any is left for later. */
  putLeftAside(state: ConversationState): boolean {
    const left = this.#unsent?.leftAnswers(state.id) ?? [];
    const over = left.filter(({ asked: { call } }) => {
      const known = callIn(state, { call });
      return !known || isEnded(known.status);
    });
    for (const { text, forget } of over) if (this.#putAside(text)) forget();
    return left.length > over.length;
  }

  /** Returns whether there is anybody to be told. */
  #putAside(text: string): boolean {
    const { live, isClosed } = this.#terminal;
    if (isClosed) return false;
    live?.configure({ history: [text] });
    this.#view.note(live ? `Not sent, but in the history: ${excerpt(text, SHOWN)}` : `Not sent: ${visibleProse(text)}`);
    return true;
  }
}

/** What is written in answer to a call, as one text or more. */
export class WrittenAnswer {
  readonly #keep: (what: string) => UnsentAnswer | undefined;
  readonly #putAside: (text: string) => boolean;
  readonly #parts = new Map<string, WrittenPart>();

  constructor(keep: (what: string) => UnsentAnswer | undefined, putAside: (text: string) => boolean) {
    this.#keep = keep;
    this.#putAside = putAside;
  }

  /** What is written as one thing that is asked. */
  part(what: string): WrittenPart {
    const part = this.#parts.get(what) ?? new WrittenPart(this.#keep(what));
    this.#parts.set(what, part);
    return part;
  }

  /** The call asks no more; `isGiven`: what was used is in the log. */
  end(isGiven: boolean): void {
    for (const part of this.#parts.values()) {
      if ((isGiven && part.isUsed) || part.text.trim() === "" || this.#putAside(part.text)) part.forget();
    }
  }
}

/** One text of an answer. */
export class WrittenPart {
  readonly #kept: UnsentAnswer | undefined;
  #text: string;
  /** What stands there as long as nothing is written. */
  #otherwise = "";
  #isUsed = false;

  constructor(kept: UnsentAnswer | undefined) {
    this.#kept = kept;
    this.#text = kept?.text ?? "";
  }

  get text(): string {
    return this.#text;
  }

  /** Whether the answer was made of it, as it is now. */
  get isUsed(): boolean {
    return this.#isUsed;
  }

  /** It is this now. */
  draft(text: string): void {
    const written = text === this.#otherwise ? "" : text;
    if (written === this.#text) return;
    this.#text = written;
    this.#isUsed = false;
    this.#kept?.draft(written);
  }

  /** The answer is made of it; it is this. */
  use(text: string): void {
    this.draft(text);
    this.#isUsed = true;
  }

  /** For a question in which something else stands as long as nothing is written. */
  asked(otherwise: string): Pick<Question, "initial" | "onDraft"> {
    this.#otherwise = otherwise;
    return { initial: this.#text === "" ? otherwise : this.#text, onDraft: (text) => this.draft(text) };
  }

  forget(): void {
    this.#kept?.forget();
  }
}
