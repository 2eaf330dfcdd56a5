import { type Asked, type DraftFile, DraftFiles, type LeftDraft } from "./draft-files.ts";

/**
 * What a person has written and is in no conversation yet: what stands in the prompt, what is on its way, and what is
 * being answered. All of it is in files, so that no end of the process loses it (T19).
 *
 * ```
 * typed ──▶ draft ──Enter──▶ on its way ──▶ in the log: forgotten here
 *             ▲                  ╰─────────▶ it failed: back in the prompt
 * ```
 */
export class Unsent {
  readonly #files: DraftFiles;
  readonly #message: DraftFile;
  #to: string;
  #draft = "";
  /** What is on its way. */
  readonly #sent = new Set<{ readonly text: string }>();
  #hasBegun = false;

  /** `onFailed` is told once when something cannot be kept; each change tries again. */
  constructor(folder: string, to: string, onFailed: (error: unknown) => void) {
    this.#files = new DraftFiles(folder, onFailed);
    this.#message = this.#files.open();
    this.#to = to;
  }

  /** What stands in the prompt is this now. */
  draft(text: string): void {
    this.#draft = text;
    this.#changed();
  }

  /** Whether the person has entered anything yet, a message or a command. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** A text is on its way into the conversation, until what this returns is disposed of. */
  sending(text: string): Disposable {
    const sent = { text };
    this.#hasBegun = true;
    this.#sent.add(sent);
    this.#changed();
    return {
      [Symbol.dispose]: () => {
        if (this.#sent.delete(sent)) this.#changed();
      },
    };
  }

  /** From now on messages are for somebody else. */
  moveTo(to: string): void {
    this.#to = to;
    this.#changed();
  }

  /** Takes over the messages that processes that are gone had left for whom they are for; returns them. */
  takeOver(): string {
    const left = this.#leftFor(this.#to).filter(({ asked }) => !asked);
    const text = left.map((each) => each.text).join("\n");
    if (text === "") return text;
    this.#draft = this.#draft === "" ? text : `${text}\n${this.#draft}`;
    this.#changed();
    this.#message.write();
    // It is in this process's file by now: a crash in between leaves it there twice, and not nowhere.
    for (const each of left) each.forget();
    return text;
  }

  /** An answer to what a call of a conversation asks. It goes on with what processes that are gone had left of it. */
  answering(conversation: string, { call, what }: Asked): UnsentAnswer {
    const left = this.#leftFor(conversation).filter(({ asked }) => asked?.call === call && asked.what === what);
    const file = this.#files.open();
    const draft = (text: string) => file.set({ to: conversation, text, asked: { call, what } });
    // A crash may have left the same in two files.
    const text = [...new Set(left.map((each) => each.text))].join("\n");
    if (text !== "") {
      draft(text);
      file.write();
      for (const each of left) each.forget();
    }
    return { text, draft, forget: () => this.#files.remove(file) };
  }

  /** The answers to calls of a conversation that processes that are gone had left. */
  leftAnswers(conversation: string): readonly LeftAnswer[] {
    return this.#leftFor(conversation).flatMap(({ text, asked, forget }) => (asked ? [{ text, asked, forget }] : []));
  }

  /** Whoever comes next may take over what is left. */
  close(): void {
    this.#files.close();
  }

  #leftFor(whom: string): readonly LeftDraft[] {
    return this.#files.left(({ to }) => to === whom);
  }

  #changed(): void {
    const text = [...[...this.#sent].map((sent) => sent.text), this.#draft]
      .filter((part) => part.trim() !== "")
      .join("\n");
    this.#message.set({ to: this.#to, text });
  }
}

/** An answer that is not given yet. */
export interface UnsentAnswer {
  /** What had been written of it before. */
  readonly text: string;
  /** It is this now. */
  draft(text: string): void;
  /** It has arrived, or was put elsewhere. */
  forget(): void;
}

/** An answer that nobody is writing any more. */
export interface LeftAnswer extends Omit<UnsentAnswer, "draft"> {
  readonly asked: Asked;
}
