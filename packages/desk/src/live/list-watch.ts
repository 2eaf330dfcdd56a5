import type { ListQuery } from "@banyan/core/stores";
import type { ListedConversation } from "@banyan/protocol";
import { CONVERSATIONS_AT_ONCE } from "@banyan/protocol/values";
import { ClientFrame } from "./frame.ts";

/** Milliseconds between two checks for changed conversations. */
const EVERY = 250;
/** Milliseconds until changes are listed again after an error, for example while the database restarts. */
const AGAIN = 2_000;

/** A client that watches the list of conversations. */
export interface ListWatcher {
  send(frame: ClientFrame): void;
}

/** The functions of a desk that `ListWatch` uses. */
export interface ListWatchParts {
  list(query: ListQuery): Promise<readonly ListedConversation[]>;
  /** Reports conversations that other processes changed. See `Store.watch`. */
  watch?: ((changed: (conversations: readonly string[]) => void) => () => void) | undefined;
  /** Receives errors of sending, and must not throw. */
  defect(error: unknown): void;
}

/** Sends changes of the conversation list to watching clients, several changes in one frame. Reads only what changed. */
export class ListWatch implements Disposable {
  readonly #parts: ListWatchParts;
  readonly #watchers = new Set<ListWatcher>();
  readonly #changed = new Set<string>();
  #isAnyChanged = false;
  #timer: NodeJS.Timeout | undefined;
  #telling = false;
  #isDisposed = false;
  #unwatch: (() => void) | undefined;

  constructor(parts: ListWatchParts) {
    this.#parts = parts;
  }

  add(watcher: ListWatcher): void {
    if (this.#isDisposed) return;
    this.#watchers.add(watcher);
    this.#unwatch ??= this.#parts.watch?.((conversations) => {
      for (const conversation of conversations) this.changed(conversation);
    });
  }

  remove(watcher: ListWatcher): void {
    this.#watchers.delete(watcher);
    if (this.#watchers.size === 0) this.#leave();
  }

  /** Marks a conversation as changed in the list; without an argument, all conversations. */
  changed(conversation?: string): void {
    if (this.#watchers.size === 0) return;
    if (conversation === undefined) this.#isAnyChanged = true;
    else this.#changed.add(conversation);
    this.#tellSoon();
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#watchers.clear();
    this.#leave();
  }

  #leave(): void {
    this.#unwatch?.();
    this.#unwatch = undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#changed.clear();
    this.#isAnyChanged = false;
  }

  #tellSoon(wait = EVERY): void {
    if (this.#telling || this.#watchers.size === 0) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#telling = true;
      let next = AGAIN;
      this.#tell()
        .then((isTold) => {
          if (isTold) next = EVERY;
        })
        .finally(() => {
          this.#telling = false;
          if (this.#isAnyChanged || this.#changed.size > 0) this.#tellSoon(next);
        })
        .catch(this.#parts.defect);
    }, wait);
  }

  /** Returns false if the changes cannot be listed now: they then count as new changes. */
  async #tell(): Promise<boolean> {
    const ids = new Set(this.#changed);
    const isAny = this.#isAnyChanged;
    this.#changed.clear();
    this.#isAnyChanged = false;
    let changed: readonly ListedConversation[];
    try {
      if (isAny) await this.#tellAll();
      changed = await this.#parts.list({ conversations: [...ids] });
    } catch {
      for (const id of ids) this.#changed.add(id);
      this.#isAnyChanged ||= isAny;
      return false;
    }
    for (const { id } of changed) ids.delete(id);
    if (changed.length + ids.size > 0) this.#send(changed, [...ids]);
    return true;
  }

  /** After lost notifications, any conversation may have changed. Other work runs between two pages. */
  async #tellAll(): Promise<void> {
    const limit = CONVERSATIONS_AT_ONCE;
    for (let after: ListedConversation | undefined; ; ) {
      const page = await this.#parts.list({ after, limit });
      if (page.length > 0) this.#send(page, []);
      const last = page.at(-1);
      if (page.length < limit || last?.id === after?.id) return;
      after = last;
    }
  }

  #send(changed: readonly ListedConversation[], removed: readonly string[]): void {
    const frame = new ClientFrame({ type: "conversations", changed, removed });
    for (const watcher of this.#watchers) watcher.send(frame);
  }
}
