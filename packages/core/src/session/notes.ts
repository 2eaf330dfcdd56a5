import type { EventBody } from "../conversation/event.ts";
import type { FileChange } from "../conversation/message.ts";
import type { ConversationState } from "../conversation/state.ts";
import { changedFile, countedUsage, type SpentOutsideTurns } from "./added.ts";
import { noEntry, noMessage } from "./error.ts";

interface NotedSession {
  readonly state: ConversationState;
  commit(events: readonly EventBody[], options?: { readonly durable: boolean }): void | Promise<void>;
}

/**
 * What users and programs note in a conversation outside its turns. Each method, except `usage`, resolves when the note is in
 * the log and would survive a power cut. Each rejects with `SessionError` (`no-message`) for a message that does not exist.
 */
export class SessionNotes {
  readonly #session: NotedSession;

  constructor(session: NotedSession) {
    this.#session = session;
  }

  /** Names a message, or takes its name away with `null`. */
  label(message: string, label: string | null): Promise<void> {
    return this.#note({ type: "message.labelled", message, label });
  }

  /** Stars a message, or takes the star away. */
  star(message: string, starred: boolean): Promise<void> {
    return this.#note({ type: "message.starred", message, starred });
  }

  /** Hides a message and all messages below it; `restore` shows them again. Nothing is rewritten. */
  remove(message: string): Promise<void> {
    return this.#note({ type: "message.removed", message });
  }

  /** Shows again what `remove` hid. */
  restore(message: string): Promise<void> {
    return this.#note({ type: "message.restored", message });
  }

  /**
   * Keeps an entry that memory recalled for a message from the model, from its next response on, or gives it back. `item` is
   * the index of the entry in `recalled`, from 0. Rejects with `SessionError` (`no-message`) when there is no such entry.
   */
  async dismiss(message: string, item: number, dismissed: boolean): Promise<void> {
    const at = this.#session.state.messages.get(message);
    if (at && (at.role !== "user" || !at.recalled?.[item])) throw noEntry(message, item);
    await this.#note({ type: "memory.dismissed", message, item, dismissed });
  }

  /** Gives the conversation a title. */
  async rename(title: string): Promise<void> {
    await this.#write({ type: "title.changed", title });
  }

  /** Gives the conversation a model by its name: for programs that create its agents, and for `modelNamed` of a running one. */
  async changeModel(model: string): Promise<void> {
    await this.#write({ type: "model.changed", model });
  }

  /**
   * Records a change of a file among the changes of a call: the change of its tool, or of a user who undid that. Rejects with
   * `SessionError`: `no-call`, or `invalid-option` for an impossible change.
   *
   * @example
   * // The file that the call created is gone again.
   * const change = { path: "notes.md", kind: "deleted", before: digest, after: null, added: 0, removed: 3, diff } as const;
   * await session.notes.fileChange(call, change);
   */
  async fileChange(call: string, change: FileChange): Promise<void> {
    await this.#write(changedFile(this.#session.state, call, change));
  }

  /**
   * Counts a model call outside the turns, such as for a title, in `state.usage` and `state.cost` (US dollars; `undefined`:
   * unknown). Impossible counts, such as negative ones, are 0. Rejects with `SessionError` (`invalid-option`) for an
   * impossible purpose, model or cost.
   *
   * @example
   * const { text, usage, cost } = await askModel(model, { instructions: "Say it in five words.", messages }, { signal });
   * await session.notes.usage({ purpose: "title", model: model.id, usage, cost });
   */
  async usage(spent: SpentOutsideTurns): Promise<void> {
    await this.#session.commit([countedUsage(spent)]);
  }

  async #note(note: EventBody & { readonly message: string }): Promise<void> {
    if (!this.#session.state.messages.has(note.message)) throw noMessage(note.message);
    await this.#write(note);
  }

  async #write(event: EventBody): Promise<void> {
    await this.#session.commit([event], { durable: true });
  }
}
