import { Client, type ClientEvents } from "@banyan/client";
import type { Session } from "@banyan/core";
import type { ConversationSummary } from "@banyan/core/stores";
import type { Host } from "@banyan/host";
import { Desk, type LinkOptions, USER } from "@banyan/server/desk";
import { chooseConversation, conversationsHere } from "../../conversations/choose.ts";
import { idOf, openWithModel } from "../../named-session.ts";
import { problemOf } from "../../problem.ts";
import type { Person } from "../user/person.ts";

/** The desk of this program, and the host that it is at: what a person can do here, and not at a server. */
export class OwnDesk implements AsyncDisposable {
  readonly host: Host;
  readonly #desk: Desk;
  readonly #clients: Client[] = [];
  #isReady = false;

  /** `defect` hears of what went wrong and nobody asked for; tools are told that `client` began a turn. */
  constructor(host: Host, defect: (error: unknown) => void, client = "banyan") {
    this.host = host;
    this.#desk = new Desk({ host, client, defect, told: (error) => problemOf(error).message });
  }

  /** A client at this desk, which reads the conversations where they are. `reader`: who takes what it is told, if that takes time. */
  async client(events?: ClientEvents, reader?: LinkOptions["reader"]): Promise<Client> {
    const client = new Client(this.#desk.link({ principal: USER, shares: true, reader }), events);
    this.#clients.push(client);
    await client.connected();
    return client;
  }

  /** Opens a conversation; whoever watches it keeps it open. Rejects with `StoreError`. */
  async open(conversation: string): Promise<Session> {
    return (await this.#desk.conversations.open(conversation)).session;
  }

  /**
   * Opens another conversation, named by its id or title, with the model that it goes on with; without a name, or where
   * several may be meant, the person chooses. Resolves with its id, or nothing when none is chosen. Rejects with
   * `ConversationError` or `StoreError`.
   */
  async openAnother(
    named: string | undefined,
    { terminal, view, left: signal, state }: Person,
  ): Promise<string | undefined> {
    const { host } = this;
    const notice = (sentence: string) => view.note(sentence);
    const choose = (among?: readonly ConversationSummary[]) =>
      chooseConversation({ from: conversationsHere(host), terminal, among, signal });
    const id = named === undefined ? await choose() : await idOf(named, host, choose);
    if (id === undefined) return undefined;
    if (id === state.id) {
      notice("This is that conversation.");
      return undefined;
    }
    await openWithModel(id, host, { notice, open: (found) => this.open(found) });
    this.settingsChanged();
    return id;
  }

  /**
   * Resolves with whether another turn follows by itself behind one that was answered with the message `leaf`, as where a hook
   * does not let the agent stop.
   */
  async goesOn(conversation: string, leaf: string | null): Promise<boolean> {
    const session = await this.open(conversation);
    await this.#desk.chats.settled(session);
    return session.state.runs.size > 0 || session.state.leaf !== leaf;
  }

  /** Closes a conversation, so that another program can have it at once; what runs in it is interrupted. */
  close(conversation: string): Promise<void> {
    return this.#desk.close(conversation);
  }

  /** Resolves when there is all that the agent works with: with what is to be said of that, once. Rejects as `host.ready()`. */
  async ready(): Promise<readonly string[]> {
    const { notices } = await this.host.ready();
    if (this.#isReady) return [];
    this.#isReady = true;
    return notices;
  }

  /** Takes a model for this conversation and later ones. Rejects with `ModelChoiceError`. */
  async keepModel(name: string): Promise<void> {
    await this.host.changeModel(name);
    this.settingsChanged();
  }

  /** The host has changed its settings by itself: the clients are told. */
  settingsChanged(): void {
    this.#desk.settingsChanged();
  }

  /** Interrupts what runs, with its facts in the log, and closes every conversation. The host stays open. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) client.close();
    await this.#desk.stop();
  }
}
