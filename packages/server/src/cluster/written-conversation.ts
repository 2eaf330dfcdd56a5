import { type ConversationState, type Event, emptyConversation, reduce, type Store } from "@banyan/core";
import {
  type ClientConnection,
  ClientFrame,
  type FeedSubscription,
  type FeedViewer,
  type FoundMessages,
  findMessages,
  itemForViewer,
  type Watchable,
} from "@banyan/desk/serving";
import { snapshotOf } from "@banyan/protocol/values";

/** The source of a `WrittenConversation`'s events, with a signal for new events. */
export interface WrittenOptions {
  readonly store: Pick<Store, "view">;
  /** Resolves when there may be new events, and after a while in any case. */
  bell(): Promise<void>;
  /** Called when no client watches any more. */
  over(): void;
}

/**
 * A conversation as the database contains it, for clients that watch while its node cannot be reached. Clients get
 * events as they are appended, and streaming text a quarter of a second late. Does not open the conversation.
 */
export class WrittenConversation implements Watchable {
  readonly #id: string;
  readonly #options: WrittenOptions;
  readonly #lines = new Map<FeedSubscription, ClientConnection>();
  readonly #behind = new WeakSet<FeedSubscription>();
  #state: ConversationState;
  #reading: Promise<void> | undefined;
  #isFollowed = false;

  constructor(id: string, options: WrittenOptions) {
    this.#id = id;
    this.#options = options;
    this.#state = emptyConversation(id);
  }

  /** Begins with a snapshot. Rejects with `StoreError`. */
  async subscribe(line: ClientConnection, _from?: unknown, leaf?: string): Promise<FeedSubscription> {
    await this.#readOn();
    const watching: FeedSubscription = {
      end: () => {
        this.#lines.delete(watching);
      },
    };
    this.#join(watching, line, leaf);
    if (!this.#isFollowed) this.#follow().catch(() => {});
    return watching;
  }

  unsubscribe(watching: FeedSubscription): void {
    watching.end();
  }

  async read(
    messages: readonly string[],
    _viewer: FeedViewer,
    _watching: FeedSubscription | undefined,
    answer: (found: FoundMessages) => void,
  ): Promise<void> {
    await this.#readOn();
    answer(findMessages(this.#state.messages, messages));
  }

  flush(): void {
    // Events are sent in the tick in which they are read.
  }

  #join(watching: FeedSubscription, line: ClientConnection, leaf?: string): void {
    const { seq, epoch } = this.#state;
    const cursor = { seq, epoch, offset: 0 };
    line.send(new ClientFrame(snapshotOf(this.#state, { cursor, leaf })), cursor);
    this.#lines.set(watching, line);
  }

  /** Follows the log while a client watches. Retries when the database cannot be reached. */
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
      // The database lost its end, for example in a crash: clients have events that no longer exist.
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

  #tell(watching: FeedSubscription, line: ClientConnection, events: readonly Event[]): void {
    if (this.#behind.has(watching)) return;
    const { seq, epoch } = this.#state;
    const items = events.flatMap((event) => itemForViewer(event, line.viewer) ?? []);
    line.send(new ClientFrame({ type: "feed", conversation: this.#id, items }), { seq, epoch, offset: 0 });
    if (!line.isFull) return;
    this.#behind.add(watching);
    line
      .room()
      .then(() => {
        this.#behind.delete(watching);
        if (this.#lines.has(watching)) this.#join(watching, line);
      })
      // The connection is closed.
      .catch(() => {});
  }
}
