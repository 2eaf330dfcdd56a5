import type { ListedConversation } from "@banyan/protocol";
import { Frame } from "./frame.ts";

/** Milliseconds between two looks at what has changed. */
const EVERY = 250;

/** Who watches the list of conversations. */
export interface ListWatcher {
  send(frame: Frame): void;
}

/** Tells those who watch the list of conversations what changes in it, several changes at once. */
export class ListWatch implements Disposable {
  readonly #list: () => Promise<readonly ListedConversation[]>;
  readonly #defect: (error: unknown) => void;
  readonly #watchers = new Set<ListWatcher>();
  readonly #changed = new Set<string>();
  /** Any conversation may have changed. */
  #isAnyChanged = false;
  #timer: NodeJS.Timeout | undefined;
  #telling = false;

  /** `defect` hears of what went wrong in telling them, and must not throw. */
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

  /** What the list says of a conversation may have changed; without a conversation, of any of them. */
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
      // A list that cannot be read now is told of with the next change; whoever asks for it is told why.
      return;
    }
    const changed = all.filter(({ id }) => ids.delete(id) || isAny);
    const frame = new Frame({ type: "conversations", changed, removed: [...ids] });
    for (const watcher of this.#watchers) watcher.send(frame);
  }
}
