import type { Client } from "@banyan/client";
import { tCount } from "../phrases/phrases.ts";

/** Conversations that a person removed, for as long as that can be undone. */
export interface Leaving {
  readonly conversations: readonly string[];
  /** What they are called together. */
  readonly title: string;
}

/** As much of what the page shows as is told here. */
interface Shown {
  getState(): { readonly leaving: Leaving | undefined };
  setState(change: { readonly leaving?: Leaving | undefined; readonly problem?: string }): void;
}

/** What was removed before, and what is now. */
function together({ conversations }: Leaving, others: readonly string[]): Leaving {
  const all = [...conversations, ...others];
  return { conversations: all, title: tCount(all.length, "{count} conversation", "{count} conversations") };
}

/** Milliseconds for which a removal can be undone (W55). */
const UNDONE = 10_000;

/**
 * Removing conversations for good, which waits until it cannot be undone any more: the server knows no way back. They are out of
 * sight meanwhile. Others that are removed meanwhile are undone with them; when the page is closed, the time is over.
 */
export class ConversationRemoval {
  readonly #connection: Client;
  readonly #store: Shown;
  #timer: number | undefined;
  /** What is being removed now, and cannot be undone. */
  #going: Leaving | undefined;

  constructor(connection: Client, store: Shown) {
    this.#connection = connection;
    this.#store = store;
    window.addEventListener("pagehide", () => this.#end());
  }

  begin(conversations: readonly string[], title: string): void {
    const { leaving } = this.#store.getState();
    const isUndoable = leaving !== undefined && leaving !== this.#going;
    clearTimeout(this.#timer);
    this.#store.setState({ leaving: isUndoable ? together(leaving, conversations) : { conversations, title } });
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
    // The list tells when they are gone; until then they stay out of sight.
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

  #over(leaving: Leaving): void {
    if (this.#store.getState().leaving === leaving) this.#store.setState({ leaving: undefined });
  }
}
