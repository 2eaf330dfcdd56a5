import type { ListedConversation } from "@banyan/protocol";
import { ClientFrame } from "./frame.ts";

/** Milliseconds between two checks for changed conversations. */
const EVERY = 250;

/** A client that watches the list of conversations. */
export interface ListWatcher {
  send(frame: ClientFrame): void;
}

/** Sends changes of the conversation list to watching clients, several changes in one frame. */
export class ListWatch implements Disposable {
  readonly #list: () => Promise<readonly ListedConversation[]>;
  readonly #defect: (error: unknown) => void;
  readonly #watchers = new Set<ListWatcher>();
  readonly #changed = new Set<string>();
  #isAnyChanged = false;
  #timer: NodeJS.Timeout | undefined;
  #telling = false;

  /** `defect` receives errors of sending, and must not throw. */
  constructor(list: () => Promise<readonly ListedConversation[]>, defect: (error: unknown) => void) {
    this.#list = list;
    this.#defect = defect;
  }

  add(watcher: ListWatcher): void {
    this.#watchers.add(watcher);
  }

  remove(watcher: ListWatcher): void {
    this.#watchers.delete(watcher);
  }

  /** Marks a conversation as changed in the list; without an argument, all conversations. */
  changed(conversation?: string): void {
    if (this.#watchers.size === 0) return;
    if (conversation === undefined) this.#isAnyChanged = true;
    else this.#changed.add(conversation);
    this.#tellSoon();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#watchers.clear();
  }

  #tellSoon(): void {
    if (this.#telling) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#telling = true;
      this.#tell()
        .finally(() => {
          this.#telling = false;
          if (this.#isAnyChanged || this.#changed.size > 0) this.#tellSoon();
        })
        .catch(this.#defect);
    }, EVERY);
  }

  async #tell(): Promise<void> {
    const ids = new Set(this.#changed);
    const isAny = this.#isAnyChanged;
    this.#changed.clear();
    this.#isAnyChanged = false;
    let all: readonly ListedConversation[];
    try {
      all = await this.#list();
    } catch {
      // The next change tries again.
      return;
    }
    const changed = all.filter(({ id }) => ids.delete(id) || isAny);
    const frame = new ClientFrame({ type: "conversations", changed, removed: [...ids] });
    for (const watcher of this.#watchers) watcher.send(frame);
  }
}
