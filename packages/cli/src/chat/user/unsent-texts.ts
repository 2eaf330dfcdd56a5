import { type DraftFile, DraftFiles, type DraftQuestion, type OrphanDraft } from "./draft-files.ts";

/**
 * The user's unsent texts: the prompt, messages on their way, and unfinished answers. They are in files, so they
 * survive every end of the process (T19). The file of a message is deleted once the log contains the message. A message
 * that cannot be sent goes back into the prompt.
 */
export class UnsentTexts {
  readonly #files: DraftFiles;
  readonly #message: DraftFile;
  #to: string;
  #draft = "";
  readonly #sent = new Set<{ readonly text: string }>();
  #hasBegun = false;

  /** `onFailed` is called once when a text cannot be stored, until storing succeeds. Each change tries again. */
  constructor(folder: string, to: string, onFailed: (error: unknown) => void) {
    this.#files = new DraftFiles(folder, onFailed);
    this.#message = this.#files.open();
    this.#to = to;
  }

  draft(text: string): void {
    this.#draft = text;
    this.#changed();
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Keeps a text on its way until the returned object is disposed of. */
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

  /** Drafts belong to this conversation or place from now on. */
  moveTo(to: string): void {
    this.#to = to;
    this.#changed();
  }

  /** Takes over the messages of ended processes for this place, and returns their text. */
  takeOver(): string {
    const left = this.#leftFor(this.#to).filter(({ asked }) => !asked);
    const text = left.map((each) => each.text).join("\n");
    if (text === "") return text;
    this.#draft = this.#draft === "" ? text : `${text}\n${this.#draft}`;
    this.#changed();
    this.#message.write();
    // Delete the old files last: a crash in between duplicates a text instead of losing it.
    for (const each of left) each.forget();
    return text;
  }

  /** The answer to a question of a call, which begins with the unfinished text of ended processes. */
  answering(conversation: string, { call, what }: DraftQuestion): UnsentAnswer {
    const left = this.#leftFor(conversation).filter(({ asked }) => asked?.call === call && asked.what === what);
    const file = this.#files.open();
    const draft = (text: string) => file.set({ to: conversation, text, asked: { call, what } });
    const text = [...new Set(left.map((each) => each.text))].join("\n");
    if (text !== "") {
      draft(text);
      file.write();
      for (const each of left) each.forget();
    }
    return { text, draft, forget: () => this.#files.remove(file) };
  }

  /** Unfinished answers of ended processes for a conversation. */
  leftAnswers(conversation: string): readonly OrphanAnswer[] {
    return this.#leftFor(conversation).flatMap(({ text, asked, forget }) => (asked ? [{ text, asked, forget }] : []));
  }

  close(): void {
    this.#files.close();
  }

  #leftFor(whom: string): readonly OrphanDraft[] {
    return this.#files.left(({ to }) => to === whom);
  }

  #changed(): void {
    const text = [...[...this.#sent].map((sent) => sent.text), this.#draft]
      .filter((part) => part.trim() !== "")
      .join("\n");
    this.#message.set({ to: this.#to, text });
  }
}

export interface UnsentAnswer {
  readonly text: string;
  draft(text: string): void;
  /** Deletes the text, which has arrived or moved. */
  forget(): void;
}

export interface OrphanAnswer extends Omit<UnsentAnswer, "draft"> {
  readonly asked: DraftQuestion;
}
