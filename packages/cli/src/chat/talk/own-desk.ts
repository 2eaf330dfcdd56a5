import { Client, type ClientEvents } from "@banyan/client";
import type { Session } from "@banyan/core";
import type { ConversationSummary } from "@banyan/core/stores";
import { Desk, type LinkOptions, USER } from "@banyan/desk";
import type { Host } from "@banyan/host";
import { chooseConversation, conversationsHere } from "../../conversations/choose.ts";
import { findNamedConversation, openWithModel } from "../../conversations/named-session.ts";
import { reportedProblem } from "../../program/problem.ts";
import type { TerminalUser } from "../user/terminal-user.ts";

/** Serves this program's own conversations, with actions that a server does not offer. */
export class OwnDesk implements AsyncDisposable {
  readonly host: Host;
  readonly #desk: Desk;
  readonly #clients: Client[] = [];
  #isReady = false;

  /** `defect` receives unexpected errors. Tools get `client` as the client that began a turn. */
  constructor(host: Host, defect: (error: unknown) => void, client = "banyan") {
    this.host = host;
    this.#desk = new Desk({ host, client, defect, told: (error) => reportedProblem(error).message });
  }

  /** Connects a client that shares the conversation objects. `reader` slows delivery to the reader's pace. */
  async client(events?: ClientEvents, reader?: LinkOptions["reader"]): Promise<Client> {
    const client = new Client(this.#desk.link({ principal: USER, shares: true, reader }), events);
    this.#clients.push(client);
    await client.connected();
    return client;
  }

  /** Opens a conversation, which stays open while a client watches it. Rejects with `StoreError`. */
  async open(conversation: string): Promise<Session> {
    return (await this.#desk.conversations.open(conversation)).session;
  }

  /**
   * Opens another conversation by its id or title, with its own model. The user chooses if there is no name or several
   * conversations match. Resolves with the id, or undefined without a choice. Rejects with `ConversationError` or
   * `StoreError`.
   */
  async openAnother(
    named: string | undefined,
    { terminal, view, left: signal, state }: TerminalUser,
  ): Promise<string | undefined> {
    const { host } = this;
    const notice = (sentence: string) => view.note(sentence);
    const choose = (among?: readonly ConversationSummary[]) =>
      chooseConversation({ from: conversationsHere(host), terminal, among, signal });
    const id = named === undefined ? await choose() : await findNamedConversation(named, host, choose);
    if (id === undefined) return undefined;
    if (id === state.id) {
      notice("This conversation is already open.");
      return undefined;
    }
    await openWithModel(id, host, { notice, open: (found) => this.open(found) });
    this.settingsChanged();
    return id;
  }

  /**
   * Resolves with true if another turn follows the turn that ended at `leaf`, because a hook keeps the agent working.
   */
  async continues(conversation: string, leaf: string | null): Promise<boolean> {
    const session = await this.open(conversation);
    await this.#desk.chats.settled(session);
    return session.state.runs.size > 0 || session.state.leaf !== leaf;
  }

  /** Interrupts and closes a conversation, so that another program can open it at once. */
  close(conversation: string): Promise<void> {
    return this.#desk.close(conversation);
  }

  /** Resolves with notices when tools and servers are ready; later calls get none. Rejects like `host.ready()`. */
  async ready(): Promise<readonly string[]> {
    const { notices } = await this.host.ready();
    if (this.#isReady) return [];
    this.#isReady = true;
    return [...notices, ...this.host.withdrawn];
  }

  /** Uses a model for this conversation and later ones. Rejects with `ModelChoiceError`. */
  async keepModel(name: string): Promise<void> {
    await this.host.changeModel(name);
    this.settingsChanged();
  }

  /** Informs the clients that the host has changed its own settings. */
  settingsChanged(): void {
    this.#desk.settingsChanged();
  }

  /** Interrupts all runs, which is logged, and closes all conversations. The host stays open. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) client.close();
    await this.#desk.stop();
  }
}
