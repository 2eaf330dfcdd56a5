import { type ConversationState, type Event, emptyConversation, type Message, reduce, type Store } from "@banyan/core";
import { sizeOf, snapshotOf } from "@banyan/protocol/values";
import type { Watchable, Watching } from "../desk/elsewhere.ts";
import { Frame, shownTo, type Viewer } from "../desk/live/frame.ts";
import type { Line } from "../desk/live/subscription.ts";

/** UTF-16 units of messages that one answer holds, or one message more. */
const READ_AT_ONCE = 1024 * 1024;

/** Where a conversation is written, and how news of it come. */
export interface WrittenOptions {
  readonly store: Pick<Store, "view">;
  /** Resolves when there may be more in it, and after a while in any case. */
  bell(): Promise<void>;
  /** Nobody watches it any more. */
  over(): void;
}

/**
 * A conversation as it is in the database, for who watches it while the node that has it cannot be reached: its events as they are
 * appended, and the text that streams as its checkpoints have it, a quarter of a second late. Nothing is opened.
 */
export class WrittenConversation implements Watchable {
  readonly #id: string;
  readonly #options: WrittenOptions;
  readonly #lines = new Map<Watching, Line>();
  /** Those whose line is full: they get a snapshot when there is room. */
  readonly #behind = new WeakSet<Watching>();
  #state: ConversationState;
  #reading: Promise<void> | undefined;
  #isFollowed = false;

  constructor(id: string, options: WrittenOptions) {
    this.#id = id;
    this.#options = options;
    this.#state = emptyConversation(id);
  }

  /** Begins with a snapshot. Rejects with `StoreError`. */
  async subscribe(line: Line, _from?: unknown, leaf?: string): Promise<Watching> {
    await this.#readOn();
    const watching: Watching = {
      end: () => {
        this.#lines.delete(watching);
      },
    };
    this.#join(watching, line, leaf);
    if (!this.#isFollowed) this.#follow().catch(() => {});
    return watching;
  }

  unsubscribe(watching: Watching): void {
    watching.end();
  }

  async read(
    messages: readonly string[],
    _viewer: Viewer,
    _watching: Watching | undefined,
    answer: (found: { readonly messages: readonly Message[]; readonly unknown: readonly string[] }) => void,
  ): Promise<void> {
    await this.#readOn();
    const found: Message[] = [];
    const unknown: string[] = [];
    let size = 0;
    for (const id of messages) {
      const message = this.#state.messages.get(id);
      size += message ? sizeOf(message) : 0;
      if (!message) unknown.push(id);
      else if (size > READ_AT_ONCE && found.length > 0) break;
      else found.push(message);
    }
    answer({ messages: found, unknown });
  }

  flush(): void {
    // What is read is told in the same tick.
  }

  #join(watching: Watching, line: Line, leaf?: string): void {
    const { seq, epoch } = this.#state;
    const cursor = { seq, epoch, offset: 0 };
    line.send(new Frame(snapshotOf(this.#state, { cursor, leaf })), cursor);
    this.#lines.set(watching, line);
  }

  /** As long as anybody watches. A database that is away is asked again. */
  async #follow(): Promise<void> {
    this.#isFollowed = true;
    while (this.#lines.size > 0) {
      await this.#options.bell();
      await this.#readOn().catch(() => {});
    }
    this.#isFollowed = false;
    this.#options.over();
  }

  #readOn(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<void> {
    const view = await this.#options.store.view(this.#id);
    try {
      // The database was set back, as by a crash: what was told beyond its end is not there.
      const isBack = view.seq < this.#state.seq;
      if (isBack) this.#state = emptyConversation(this.#id);
      for await (const events of view.read(this.#state.seq)) {
        for (const event of events) reduce(this.#state, event);
        if (!isBack) for (const [watching, line] of this.#lines) this.#tell(watching, line, events);
      }
      if (isBack) for (const [watching, line] of [...this.#lines]) this.#join(watching, line);
    } finally {
      await view.close();
    }
  }

  /** Who is too slow for it gets a snapshot when there is room again. */
  #tell(watching: Watching, line: Line, events: readonly Event[]): void {
    if (this.#behind.has(watching)) return;
    const { seq, epoch } = this.#state;
    const items = events.flatMap((event) => shownTo(event, line.viewer) ?? []);
    line.send(new Frame({ type: "feed", conversation: this.#id, items }), { seq, epoch, offset: 0 });
    if (!line.isFull) return;
    this.#behind.add(watching);
    line
      .room()
      .then(() => {
        this.#behind.delete(watching);
        if (this.#lines.has(watching)) this.#join(watching, line);
      })
      // The line is gone.
      .catch(() => {});
  }
}
