import type { Client } from "@banyan/client";
import { tCount } from "../phrases/phrases.ts";

/** Removed conversations, while the removal can be undone. */
export interface RecentRemoval {
  readonly conversations: readonly string[];
  readonly title: string;
}

interface RemovalStore {
  getState(): { readonly leaving: RecentRemoval | undefined };
  setState(change: { readonly leaving?: RecentRemoval | undefined; readonly problem?: string }): void;
}

function joinRemovals({ conversations }: RecentRemoval, others: readonly string[]): RecentRemoval {
  const all = [...conversations, ...others];
  return { conversations: all, title: tCount(all.length, "{count} conversation", "{count} conversations") };
}

const UNDONE = 10_000;

/**
 * Hides conversations at once, and removes them after a delay. Until then, the user can undo the removal, together with
 * all removals that followed during the delay. After the delay, the server cannot restore the conversations. If the
 * user closes the page, the removal happens at once.
 */
export class ConversationRemoval {
  readonly #connection: Client;
  readonly #store: RemovalStore;
  #timer: number | undefined;
  /** Conversations that are being removed and can no longer be restored. */
  #going: RecentRemoval | undefined;

  constructor(connection: Client, store: RemovalStore) {
    this.#connection = connection;
    this.#store = store;
    window.addEventListener("pagehide", () => this.#end());
  }

  begin(conversations: readonly string[], title: string): void {
    const { leaving } = this.#store.getState();
    const isUndoable = leaving !== undefined && leaving !== this.#going;
    clearTimeout(this.#timer);
    this.#store.setState({ leaving: isUndoable ? joinRemovals(leaving, conversations) : { conversations, title } });
    this.#timer = window.setTimeout(() => this.#end(), UNDONE);
  }

  undo(): void {
    clearTimeout(this.#timer);
    this.#store.setState({ leaving: undefined });
  }

  #end(): void {
    clearTimeout(this.#timer);
    const { leaving } = this.#store.getState();
    if (!leaving) return;
    this.#going = leaving;
    // They stay hidden until the list confirms the removal.
    const removed = leaving.conversations.map((conversation) =>
      this.#connection.ask("conversation.remove", { conversation }),
    );
    Promise.all(removed).then(
      () => this.#over(leaving),
      (error: Error) => {
        this.#over(leaving);
        this.#store.setState({ problem: error.message });
      },
    );
  }

  #over(leaving: RecentRemoval): void {
    if (this.#store.getState().leaving === leaving) this.#store.setState({ leaving: undefined });
  }
}
