import type { ConversationState } from "@banyan/core";
import { callIn, isEnded } from "@banyan/core/conversation";
import { visibleProse } from "@banyan/core/shown";
import { excerptLine } from "../../show/fit-text.ts";
import type { Terminal } from "../../terminal/contract/terminal.ts";
import type { FeedView } from "../../terminal/questions/feed-view.ts";
import type { TerminalQuestion } from "../../terminal/questions/question.ts";
import type { UnsentAnswer, UnsentTexts } from "./unsent-texts.ts";

const SHOWN = 200;

/**
 * Text that a user writes to answer a question of a call (T19). The text is kept until the log contains the answer.
 * Text that is no part of the answer goes into the history, like a cleared prompt. If the process ends, the text comes
 * back when the same call asks the same question again.
 */
export class AnswerDrafts {
  readonly #terminal: Terminal;
  readonly #view: FeedView;
  readonly #unsent: UnsentTexts | undefined;

  /** Without `unsent`, texts are lost when the process ends. */
  constructor(terminal: Terminal, view: FeedView, unsent?: UnsentTexts) {
    this.#terminal = terminal;
    this.#view = view;
    this.#unsent = unsent;
  }

  begin({ id }: ConversationState, call: string): WrittenAnswer {
    return new WrittenAnswer(
      (what) => this.#unsent?.answering(id, { call, what }),
      (text) => this.#putAside(text),
    );
  }

  /** Moves earlier processes' answers to ended calls into the history. Returns whether other answers are kept. */
  putLeftAside(state: ConversationState): boolean {
    const left = this.#unsent?.leftAnswers(state.id) ?? [];
    const over = left.filter(({ asked: { call } }) => {
      const known = callIn(state, { call });
      return !known || isEnded(known.status);
    });
    for (const { text, forget } of over) if (this.#putAside(text)) forget();
    return left.length > over.length;
  }

  /** Returns false if the terminal is closed, so that the text is kept. */
  #putAside(text: string): boolean {
    const { live, isClosed } = this.#terminal;
    if (isClosed) return false;
    live?.configure({ history: [text] });
    this.#view.note(
      live
        ? `Your answer was not sent. It is in the input history: ${excerptLine(text, SHOWN)}`
        : `Not sent: ${visibleProse(text)}`,
    );
    return true;
  }
}

/** The unfinished answer to the questions of one call: a text for each question. */
export class WrittenAnswer {
  readonly #keep: (what: string) => UnsentAnswer | undefined;
  readonly #putAside: (text: string) => boolean;
  readonly #parts = new Map<string, WrittenPart>();

  constructor(keep: (what: string) => UnsentAnswer | undefined, putAside: (text: string) => boolean) {
    this.#keep = keep;
    this.#putAside = putAside;
  }

  part(what: string): WrittenPart {
    const part = this.#parts.get(what) ?? new WrittenPart(this.#keep(what));
    this.#parts.set(what, part);
    return part;
  }

  /** The call asks no more. `isGiven`: the log contains the texts that were used. */
  end(isGiven: boolean): void {
    for (const part of this.#parts.values()) {
      if ((isGiven && part.isUsed) || part.text.trim() === "" || this.#putAside(part.text)) part.forget();
    }
  }
}

export class WrittenPart {
  readonly #kept: UnsentAnswer | undefined;
  #text: string;
  /** The prompt's initial text, which the user did not write. */
  #otherwise = "";
  #isUsed = false;

  constructor(kept: UnsentAnswer | undefined) {
    this.#kept = kept;
    this.#text = kept?.text ?? "";
  }

  get text(): string {
    return this.#text;
  }

  get isUsed(): boolean {
    return this.#isUsed;
  }

  draft(text: string): void {
    const written = text === this.#otherwise ? "" : text;
    if (written === this.#text) return;
    this.#text = written;
    this.#isUsed = false;
    this.#kept?.draft(written);
  }

  use(text: string): void {
    this.draft(text);
    this.#isUsed = true;
  }

  /** Input options for the question. `otherwise` is the initial text until the user writes. */
  asked(otherwise: string): Pick<TerminalQuestion, "initial" | "onDraft"> {
    this.#otherwise = otherwise;
    return { initial: this.#text === "" ? otherwise : this.#text, onDraft: (text) => this.draft(text) };
  }

  forget(): void {
    this.#kept?.forget();
  }
}
