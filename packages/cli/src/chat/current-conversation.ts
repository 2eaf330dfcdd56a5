import { emptyConversation, type Session } from "@banyan/core";
import type { ConversationSummary } from "@banyan/core/stores";
import type { Host } from "@banyan/host";
import { chooseConversation, conversationsHere } from "../conversations/choose.ts";
import { idOf, openWithModel } from "../named-session.ts";
import type { Person } from "./person.ts";
import { remindOpened } from "./remind.ts";

const EMPTY = emptyConversation();

/** The conversation that a person is in: none at first, begun with the first message, left for another one or for none. */
export class CurrentConversation {
  readonly #host: Host;
  readonly #person: Person;
  #session: Session | undefined;
  /** The id of one whose log failed. */
  #lost: string | undefined;

  constructor(host: Host, person: Person, session: Session | undefined) {
    this.#host = host;
    this.#person = person;
    this.#goInto(session);
  }

  /** None before the first message. */
  get session(): Session | undefined {
    return this.#session;
  }

  get state(): Session["state"] {
    return this.#session?.state ?? EMPTY;
  }

  /** The conversation, begun if there is none yet. Rejects with `StoreError`. */
  async open(): Promise<Session> {
    this.#session ??= await (this.#lost === undefined ? this.#host.newSession() : this.#host.openById(this.#lost));
    this.#lost = undefined;
    this.#person.terminal.live?.follow(this.#session.state);
    return this.#session;
  }

  /**
   * Leaves it for another one, named by its id or title; without a name, or where several may be meant, the person chooses.
   * Answers that one; nothing when none is chosen, or this one. Rejects with `ConversationError` or `StoreError`.
   */
  async enter(named: string | undefined): Promise<Session | undefined> {
    const [host, { terminal, view, left: signal }] = [this.#host, this.#person];
    const notice = (sentence: string) => view.note(sentence);
    const choose = (among?: readonly ConversationSummary[]) =>
      chooseConversation({ from: conversationsHere(host), terminal, among, signal });
    const id = named === undefined ? await choose() : await idOf(named, host, choose);
    if (id === undefined) return undefined;
    if (id === this.#session?.id) {
      notice("This is that conversation.");
      return undefined;
    }
    const session = await openWithModel(id, host, { notice });
    await this.leaveFor(session);
    remindOpened(terminal, session, session.state.leaf, host.agent.name);
    return session;
  }

  /** Leaves it for another one, or for a new one; answers the id of the one that was left. */
  async leaveFor(session: Session | undefined): Promise<string | undefined> {
    const left = this.#session;
    this.#goInto(session);
    this.#person.standpoint.goBack();
    await left?.close();
    return left?.id;
  }

  /** Its log has failed, and takes nothing any more: it is opened anew with what is said next. */
  async lose(): Promise<void> {
    const lost = this.#session;
    if (!lost) return;
    this.#session = undefined;
    this.#lost = lost.id;
    this.#person.terminal.live?.follow(undefined);
    this.#person.standpoint.goBack();
    await lost.close();
  }

  #goInto(session: Session | undefined): void {
    this.#session = session;
    this.#lost = undefined;
    this.#person.writing.isFor(session?.id ?? this.#host.workspace);
    this.#person.terminal.live?.follow(session?.state);
  }
}
