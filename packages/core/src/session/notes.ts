import type { EventBody } from "../conversation/event.ts";
import type { FileChange } from "../conversation/message.ts";
import { checkArguments } from "../conversation/option-names.ts";
import type { ConversationState } from "../conversation/state.ts";
import { changedFile, countedUsage, type SpentOutsideTurns } from "./added-message.ts";
import { noEntry, noMessage } from "./error.ts";

interface NotedSession {
  readonly state: ConversationState;
  commit(events: readonly EventBody[], options?: { readonly durable: boolean }): void | Promise<void>;
}

/**
 * Writes notes of users and programs into the log, outside the turns. Each method, except `usage`, resolves when the
 * note is in the log and survives a power cut. Methods with a message reject with `SessionError` (`no-message`) for an
 * unknown message.
 */
export class SessionNotes {
  readonly #session: NotedSession;

  constructor(session: NotedSession) {
    this.#session = session;
  }

  /** Gives a message a name; `null` removes the name. */
  async label(message: string, label: string | null): Promise<void> {
    if (label !== null) checkArguments("notes.label", { label }, { label: "string" });
    await this.#note({ type: "message.labelled", message, label });
  }

  /** Stars a message for users, or removes the star. */
  async star(message: string, starred: boolean): Promise<void> {
    checkArguments("notes.star", { starred }, { starred: "boolean" });
    await this.#note({ type: "message.starred", message, starred });
  }

  /** Hides a message and all messages below it; `restore` shows them again. Nothing is rewritten. */
  remove(message: string): Promise<void> {
    return this.#note({ type: "message.removed", message });
  }

  /** Shows messages again that `remove` has hidden. */
  restore(message: string): Promise<void> {
    return this.#note({ type: "message.restored", message });
  }

  /**
   * Hides a recalled memory entry from the model, from its next response on, or shows it again. `item` is the index in
   * `recalled` of the message, from 0. Rejects with `SessionError` (`no-message`), also for an unknown entry.
   */
  async dismiss(message: string, item: number, dismissed: boolean): Promise<void> {
    checkArguments("notes.dismiss", { item, dismissed }, { item: "number", dismissed: "boolean" });
    const at = this.#session.state.messages.get(message);
    if (at && (at.role !== "user" || !at.recalled?.[item])) throw noEntry(message, item);
    await this.#note({ type: "memory.dismissed", message, item, dismissed });
  }

  async rename(title: string): Promise<void> {
    checkArguments("notes.rename", { title }, { title: "string" });
    await this.#write({ type: "title.changed", title });
  }

  /** Changes the conversation's model, by name, for programs that make its agents and for `modelNamed`. */
  async changeModel(model: string): Promise<void> {
    checkArguments("notes.changeModel", { model }, { model: "string" });
    await this.#write({ type: "model.changed", model });
  }

  /**
   * Records a file change of a call: by its tool, or by an undo. The change is listed with the call, and readers see
   * it. Rejects with `SessionError`: `no-call`, or `invalid-option` for an invalid change.
   * @example
   * // The file that the call created is gone again.
   * const change = { path: "notes.md", kind: "deleted", before: digest, after: null, added: 0, removed: 3, diff } as const;
   * await session.notes.fileChange(callId, change);
   */
  async fileChange(call: string, change: FileChange): Promise<void> {
    checkArguments("notes.fileChange", { change }, { change: "object" });
    await this.#write(changedFile(this.#session.state, call, change));
  }

  /**
   * Counts a model call outside the turns, such as for a title. Adds to `state.usage` and to `state.cost`, in US
   * dollars (`undefined`: unknown). Invalid counts, such as negative ones, become 0. Rejects with `SessionError`
   * (`invalid-option`) for an invalid purpose, model or cost.
   * @example
   * const { text, usage, cost } = await askModel(model, { instructions: "Say it in five words.", messages }, { signal });
   * await session.notes.usage({ purpose: "title", model: model.id, usage, cost });
   */
  async usage(spent: SpentOutsideTurns): Promise<void> {
    checkArguments("notes.usage", { spent }, { spent: "object" });
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
