import { Client, type ConnectionState, conversationPages } from "@banyan/client";
import { errorMessage } from "@banyan/core/shown";
import { type ListedConversation, type Result, type Right, rightFor } from "@banyan/protocol";
import { createContext, useContext } from "react";
import { createStore, type StoreApi, useStore } from "zustand";
import { browserLink } from "../connection/browser-link.ts";
import type { Key } from "../connection/key.ts";
import { keepRights, keptRights } from "../connection/rights.ts";
import { forgetUnsent, keepUnsent, keptUnsent, type UnsentMessage } from "../connection/unsent-message.ts";
import { PageConversation } from "../conversation/live-conversation.ts";
import { ConversationRemoval, type RecentRemoval } from "../conversation/removal.ts";

/** The state that all parts of the page can show. */
export interface PageState {
  readonly connection: ConnectionState;
  /** The user's rights. Until the server answers, the rights of the last visit. */
  readonly rights: readonly Right[];
  /** All conversations, the last written first; `undefined` until the server answers. */
  readonly conversations: readonly ListedConversation[] | undefined;
  /** The slash prompts of files and MCP servers, and the servers that are starting; `undefined` until the server answers. */
  readonly prompts: Result<"prompt.list"> | undefined;
  /** Messages that the server has not answered yet, in order of sending. */
  readonly unsent: readonly UnsentMessage[];
  /** Messages that were sent before a reload and that the server refused. They return to the conversation's composer. */
  readonly refused: readonly RefusedMessage[];
  /** The conversation that is being removed and can still be restored. */
  readonly leaving: RecentRemoval | undefined;
  readonly removed: RemovedMessages | undefined;
  /** The reason that the user's last action failed, if no other part of the page shows the reason. */
  readonly problem: string | undefined;
  readonly note: string | undefined;
}

/** Returns the number of open questions in all conversations; 0 for users who may not answer. */
export function waitingInAll({ conversations = [], rights: has }: PageState): number {
  if (!has.includes(rightFor("question.answer"))) return 0;
  return conversations.reduce((sum, { waiting }) => sum + waiting, 0);
}

/** The message that the user has just removed. Messages below it were removed together with it. */
export interface RemovedMessages {
  readonly conversation: string;
  readonly message: string;
  readonly count: number;
}

export interface RefusedMessage extends UnsentMessage {
  readonly reason: string;
}

export type OfferedModel = Result<"model.list">["models"][number];

const STARTING = 30_000;

/** The page: its connection, the list of conversations, and the conversations that it follows. */
export class Page {
  readonly connection: Client;
  readonly removal: ConversationRemoval;
  readonly store: StoreApi<PageState>;
  readonly #followed = new Map<string, PageConversation>();
  readonly #models = new Map<string, Promise<readonly OfferedModel[]>>();
  #prompts: Promise<unknown> | undefined;
  /** Conversations that the server sent since the list last began to load. */
  #seen = new Set<string>();

  /** Calls `signedOut` when the server no longer knows the sign-in of the key. */
  constructor(address: string, key: Key, signedOut: () => void) {
    this.store = createStore<PageState>(() => ({
      connection: { phase: "connecting" },
      rights: keptRights(),
      conversations: undefined,
      prompts: undefined,
      unsent: [],
      refused: [],
      leaving: undefined,
      removed: undefined,
      problem: undefined,
      note: undefined,
    }));
    this.connection = new Client(browserLink(address, key), {
      changed: (connection) => {
        const wasOpen = this.store.getState().connection.phase === "open";
        this.store.setState({ connection });
        if (connection.phase === "open" && !wasOpen) this.#begin(connection.welcome.rights);
        if (connection.phase === "gone" && connection.error.code === "signed-out") signedOut();
      },
      frame: (frame) => {
        if (frame.type === "conversations") this.#listChanged(frame.changed, frame.removed);
      },
    });
    this.removal = new ConversationRemoval(this.connection, this.store);
    window.addEventListener("online", () => this.connection.retry());
    // The server acts once per id, so that messages from before a reload can be sent again.
    for (const unsent of keptUnsent()) this.sayFrom(unsent);
  }

  /**
   * Sends a message and shows it as unsent until the server answers. Unsent messages survive a reload. Resolves with
   * the message's id. Rejects with `ClientError`, also when the user withdraws the message.
   */
  async say(unsent: UnsentMessage): Promise<string> {
    keepUnsent(unsent);
    this.#changeUnsent((all) => [...all, unsent]);
    try {
      const { id, prompt, argument, ...said } = unsent;
      if (prompt === undefined) return (await this.connection.ask("turn.say", said, id)).message;
      const input = { ...said, prompt, ...(argument === undefined ? {} : { argument }) };
      return (await this.connection.ask("prompt.say", input, id)).message;
    } finally {
      forgetUnsent(unsent);
      this.#changeUnsent((all) => all.filter(({ id }) => id !== unsent.id));
    }
  }

  /** Like `say`, for text whose composer is gone: a refused message returns to the conversation's next composer. */
  sayFrom(unsent: UnsentMessage): void {
    this.say(unsent).catch((error: Error) => {
      keepUnsent(unsent);
      this.store.setState(({ refused }) => ({ refused: [...refused, { ...unsent, reason: error.message }] }));
    });
  }

  /** Reports the failure of an action that the user started with a click or key. */
  told(request: Promise<unknown>): void {
    this.store.setState({ problem: undefined, note: undefined });
    request.catch((error: unknown) => this.store.setState({ problem: errorMessage(error) }));
  }

  /** Like `told`, for an action whose result may be a sentence to show. */
  perform(act: () => unknown): void {
    const done = async () => {
      const said = await act();
      if (typeof said === "string" && said !== "") this.store.setState({ note: said });
    };
    this.told(done());
  }

  /** Hands a refused message to a composer. Returns whether no other composer has it. */
  giveBack(refused: RefusedMessage): boolean {
    const all = this.store.getState().refused;
    if (!all.includes(refused)) return false;
    forgetUnsent(refused);
    this.store.setState({ refused: all.filter((other) => other !== refused) });
    return true;
  }

  models(provider: string): Promise<readonly OfferedModel[]> {
    const known = this.#models.get(provider);
    if (known) return known;
    const listing = this.connection.ask("model.list", { provider }).then(({ models }) => models);
    this.#models.set(provider, listing);
    listing.catch(() => this.#models.delete(provider));
    return listing;
  }

  /** Requests the prompts, and requests them again when the starting MCP servers are ready or have failed. */
  askPrompts(): void {
    if (!this.store.getState().rights.includes(rightFor("prompt.list"))) return;
    const ask = async (wait: number) => {
      const prompts = await this.connection.ask("prompt.list", { wait });
      this.store.setState({ prompts });
      return prompts.starting.length > 0;
    };
    this.#prompts ??= ask(0)
      .then((isMore) => isMore && ask(STARTING))
      // The next slash requests the prompts again.
      .catch(ignored)
      .finally(() => {
        this.#prompts = undefined;
      });
  }

  /** Follows a conversation, first with the branch of `leaf` in view. Returns the same object for the same id. */
  follow(id: string, leaf?: string): PageConversation {
    const known = this.#followed.get(id);
    if (known) return known;
    const conversation = new PageConversation(id, this.connection, leaf);
    this.#followed.set(id, conversation);
    return conversation;
  }

  leave(id: string): void {
    this.#followed.get(id)?.leave();
    this.#followed.delete(id);
  }

  #changeUnsent(change: (all: readonly UnsentMessage[]) => readonly UnsentMessage[]): void {
    this.store.setState({ unsent: change(this.store.getState().unsent) });
  }

  #begin(rights: readonly Right[]): void {
    const { connection, store } = this;
    store.setState({ rights: rights });
    keepRights(rights);
    this.askPrompts();
    // A guest with a link knows only one conversation.
    if (!rights.includes(rightFor("conversation.list"))) return;
    connection.ask("conversation.watch", { on: true }).catch(ignored);
    this.#loadList().catch(ignored);
  }

  /** Loads the list page by page, and then removes conversations that were removed while the connection was lost. */
  async #loadList(): Promise<void> {
    const before = this.store.getState().conversations ?? [];
    const seen = new Set<string>();
    this.#seen = seen;
    for await (const page of conversationPages(this.connection, { programs: true })) this.#listChanged(page, []);
    this.#listChanged(
      [],
      before.flatMap(({ id }) => (seen.has(id) ? [] : [id])),
    );
  }

  #listChanged(changed: readonly ListedConversation[], removed: readonly string[]): void {
    for (const { id } of changed) this.#seen.add(id);
    const gone = new Set([...removed, ...changed.map(({ id }) => id)]);
    const rest = (this.store.getState().conversations ?? []).filter(({ id }) => !gone.has(id));
    this.store.setState({ conversations: [...changed, ...rest].sort((a, b) => b.updatedAt - a.updatedAt) });
  }
}

function ignored(): void {}

const Context = createContext<Page | undefined>(undefined);

export const PageProvider = Context.Provider;

export function usePage(): Page {
  const page = useContext(Context);
  if (!page) throw new Error("This view is outside of a page.");
  return page;
}

/** Returns a part of the page's state. When the part changes, the view renders again. */
export function usePageState<T>(select: (state: PageState) => T): T {
  return useStore(usePage().store, select);
}
