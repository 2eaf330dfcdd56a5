import type { ListedConversation, ServerFrame } from "@banyan/server/protocol";
import { createContext, useContext } from "react";
import { createStore, type StoreApi, useStore } from "zustand";
import { Connection, type ConnectionState } from "./connection/connection.ts";
import { LiveConversation } from "./conversation/live-conversation.ts";

/** What every part of the page may show. */
export interface PageState {
  readonly connection: ConnectionState;
  /** All conversations, the last written first; nothing until the server has told. */
  readonly conversations: readonly ListedConversation[] | undefined;
}

/** The page: its one connection, the list of conversations, and those that are followed. */
export class Page {
  readonly connection: Connection;
  readonly store: StoreApi<PageState>;
  readonly #followed = new Map<string, LiveConversation>();

  constructor(address: string) {
    this.store = createStore<PageState>(() => ({ connection: { phase: "connecting" }, conversations: undefined }));
    this.connection = new Connection(address, {
      changed: (connection) => {
        this.store.setState({ connection });
        if (connection.phase === "open") this.#begin();
      },
      frame: (frame) => this.#take(frame),
    });
  }

  /** A conversation that is followed from now on; the same one for the same id. */
  follow(id: string, leaf?: string): LiveConversation {
    const known = this.#followed.get(id);
    if (known) return known;
    const conversation = new LiveConversation(id, this.connection);
    this.#followed.set(id, conversation);
    if (this.connection.state.phase === "open") conversation.follow(leaf);
    return conversation;
  }

  /** Nobody looks at a conversation any more. */
  leave(id: string): void {
    this.#followed.get(id)?.leave();
    this.#followed.delete(id);
  }

  /** After each connection: the list anew, and every conversation from where this page stands. */
  #begin(): void {
    const { connection, store } = this;
    connection.ask("conversation.watch", { on: true }).catch(ignored);
    connection.ask("conversation.list", {}).then(({ conversations }) => store.setState({ conversations }), ignored);
    for (const conversation of this.#followed.values()) conversation.follow();
  }

  #take(frame: ServerFrame): void {
    if (frame.type === "conversations") this.#listChanged(frame.changed, frame.removed);
    else if ("conversation" in frame) this.#followed.get(frame.conversation)?.take(frame);
  }

  #listChanged(changed: readonly ListedConversation[], removed: readonly string[]): void {
    const gone = new Set([...removed, ...changed.map(({ id }) => id)]);
    const rest = (this.store.getState().conversations ?? []).filter(({ id }) => !gone.has(id));
    this.store.setState({ conversations: [...changed, ...rest].sort((a, b) => b.updatedAt - a.updatedAt) });
  }
}

/** The list is asked for again with the next connection. */
function ignored(): void {}

const Context = createContext<Page | undefined>(undefined);

/** Makes the page known to all views. */
export const PageProvider = Context.Provider;

/** The page that a view is part of. */
export function usePage(): Page {
  const page = useContext(Context);
  if (!page) throw new Error("This view is part of no page.");
  return page;
}

/** Something that every part of the page may show; the view is drawn again when it changes. */
export function usePageState<T>(select: (state: PageState) => T): T {
  return useStore(usePage().store, select);
}
