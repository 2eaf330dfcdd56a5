import { Client, type ConnectionState } from "@banyan/client";
import { type ListedConversation, type Result, type Right, rights } from "@banyan/protocol";
import { createContext, useContext } from "react";
import { createStore, type StoreApi, useStore } from "zustand";
import { browserLink } from "./connection/browser-link.ts";
import { forgetUnsent, keepUnsent, keptUnsent, type Unsent } from "./connection/unsent.ts";
import { LiveConversation } from "./conversation/live-conversation.ts";
import { ConversationRemoval, type Leaving } from "./conversations/removal.ts";
import type { Key } from "./sign-in/key.ts";
import { keepRights, keptRights } from "./sign-in/rights.ts";

/** What every part of the page may show. */
export interface PageState {
  readonly connection: ConnectionState;
  /** What the server lets this person do; as it was the last time until it has told. */
  readonly rights: readonly Right[];
  /** All conversations, the last written first; nothing until the server has told. */
  readonly conversations: readonly ListedConversation[] | undefined;
  /** What files and MCP servers have people say with a slash, and which servers are starting; nothing until the server has told. */
  readonly prompts: Result<"prompt.list"> | undefined;
  /** What was said and the server has not answered yet, in order. */
  readonly unsent: readonly Unsent[];
  /** What was said before the page was loaded anew, and came to nothing: who writes there gets it back. */
  readonly refused: readonly Refused[];
  /** The conversation that was removed just now, and is not gone yet. */
  readonly leaving: Leaving | undefined;
  /** What was removed just now and can be brought back. */
  readonly removed: Removed | undefined;
  /** Why the last thing that a person asked for did not come about, where no other place of the page says it. */
  readonly problem: string | undefined;
  /** What came of the last thing that a person asked for, in a sentence, where there is one. */
  readonly note: string | undefined;
}

/** How much waits for the person, in all conversations: nothing for who may not answer. */
export function waitingInAll({ conversations = [], rights: has }: PageState): number {
  if (!has.includes(rights["question.answer"])) return 0;
  return conversations.reduce((sum, { waiting }) => sum + waiting, 0);
}

/** Messages that a person removed, by the topmost of them. */
export interface Removed {
  readonly conversation: string;
  readonly message: string;
  /** How many went out of sight. */
  readonly count: number;
}

/** Something that was said and not taken. */
export interface Refused extends Unsent {
  readonly reason: string;
}

/** A model that can be chosen. */
export type KnownModel = Result<"model.list">["models"][number];

/** Milliseconds that MCP servers may take to start until it is told what they bring. */
const STARTING = 30_000;

/** The page: its one connection, the list of conversations, and those that are followed. */
export class Page {
  readonly connection: Client;
  readonly removal: ConversationRemoval;
  readonly store: StoreApi<PageState>;
  readonly #followed = new Map<string, LiveConversation>();
  readonly #models = new Map<string, Promise<readonly KnownModel[]>>();
  /** While prompts are asked for. */
  #prompts: Promise<unknown> | undefined;

  /** `signedOut` is called when the server does not know the sign-in that the key is of any more. */
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
    // The server acts on an id once: what it may have heard before the page was loaded anew can go out again.
    for (const unsent of keptUnsent()) this.sayFrom(unsent);
  }

  /**
   * Says something, and shows it as not sent until the server has answered; what is not sent survives a reload. Resolves
   * with the message. Rejects with `ClientError`, also when it was taken back.
   */
  async say(unsent: Unsent): Promise<string> {
    keepUnsent(unsent);
    this.#changeUnsent((all) => [...all, unsent]);
    try {
      const { id, prompt, argument, ...said } = unsent;
      if (prompt === undefined) return (await this.connection.ask("turn.say", said, id)).message;
      const asked = { ...said, prompt, ...(argument === undefined ? {} : { argument }) };
      return (await this.connection.ask("prompt.say", asked, id)).message;
    } finally {
      forgetUnsent(unsent);
      this.#changeUnsent((all) => all.filter(({ id }) => id !== unsent.id));
    }
  }

  /** The same of what was written where nobody writes any more: whoever writes in the conversation gets back what is refused. */
  sayFrom(unsent: Unsent): void {
    this.say(unsent).catch((error: Error) => {
      keepUnsent(unsent);
      this.store.setState(({ refused }) => ({ refused: [...refused, { ...unsent, reason: error.message }] }));
    });
  }

  /** What a person asked for by a click or a key: when it comes to nothing, the page says why. */
  told(asked: Promise<unknown>): void {
    this.store.setState({ problem: undefined, note: undefined });
    asked.catch((error: unknown) =>
      this.store.setState({ problem: error instanceof Error ? error.message : String(error) }),
    );
  }

  /** The same of what is done by an action: a sentence that it answers is told as well. */
  perform(act: () => unknown): void {
    const done = async () => {
      const said = await act();
      if (typeof said === "string" && said !== "") this.store.setState({ note: said });
    };
    this.told(done());
  }

  /** Somebody writes what was refused where it was written; returns whether nobody has before. */
  giveBack(refused: Refused): boolean {
    const all = this.store.getState().refused;
    if (!all.includes(refused)) return false;
    forgetUnsent(refused);
    this.store.setState({ refused: all.filter((other) => other !== refused) });
    return true;
  }

  /** The models of a provider that are known; asked for until they are told once. */
  models(provider: string): Promise<readonly KnownModel[]> {
    const known = this.#models.get(provider);
    if (known) return known;
    const asked = this.connection.ask("model.list", { provider }).then(({ models }) => models);
    this.#models.set(provider, asked);
    asked.catch(() => this.#models.delete(provider));
    return asked;
  }

  /** Has the server tell its prompts, and again when the MCP servers that are starting are there, or are not. */
  askPrompts(): void {
    if (!this.store.getState().rights.includes(rights["prompt.list"])) return;
    const ask = async (wait: number) => {
      const prompts = await this.connection.ask("prompt.list", { wait });
      this.store.setState({ prompts });
      return prompts.starting.length > 0;
    };
    this.#prompts ??= ask(0)
      .then((isMore) => isMore && ask(STARTING))
      // With the next slash they are asked for again.
      .catch(ignored)
      .finally(() => {
        this.#prompts = undefined;
      });
  }

  /** A conversation that is followed from now on, with the branch of a leaf in view at first; the same one for the same id. */
  follow(id: string, leaf?: string): LiveConversation {
    const known = this.#followed.get(id);
    if (known) return known;
    const conversation = new LiveConversation(id, this.connection, leaf);
    this.#followed.set(id, conversation);
    return conversation;
  }

  /** Nobody looks at a conversation any more. */
  leave(id: string): void {
    this.#followed.get(id)?.leave();
    this.#followed.delete(id);
  }

  #changeUnsent(change: (all: readonly Unsent[]) => readonly Unsent[]): void {
    this.store.setState({ unsent: change(this.store.getState().unsent) });
  }

  /** After each connection: the list anew. */
  #begin(given: readonly Right[]): void {
    const { connection, store } = this;
    store.setState({ rights: given });
    keepRights(given);
    this.askPrompts();
    // Who has a link knows of one conversation.
    if (!given.includes(rights["conversation.list"])) return;
    connection.ask("conversation.watch", { on: true }).catch(ignored);
    connection
      .ask("conversation.list", { programs: true })
      .then(({ conversations }) => store.setState({ conversations }), ignored);
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
