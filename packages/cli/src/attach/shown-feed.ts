import type { ConversationState, FeedItem } from "@banyan/core";
import type { Client } from "@banyan/protocol/client";
import { Approvals } from "../chat/approvals.ts";
import type { Person } from "../chat/person.ts";
import { remind } from "../chat/remind.ts";
import type { Unsent } from "../chat/unsent.ts";
import { gist } from "../show/message-label.ts";
import { oneLine } from "../show/plain-text.ts";
import type { Prompting } from "./prompting.ts";
import type { RemoteSession } from "./remote-session.ts";
import { ShownRun } from "./shown-run.ts";
import { taskResult } from "./task-result.ts";

/** Who sees the feed, and of which server. */
export interface ShownFeedOptions {
  readonly server: Client;
  readonly person: Person;
  readonly prompting: Prompting;
  readonly unsent: Unsent;
  /** The conversation; none before the first message. */
  session(): RemoteSession | undefined;
}

/**
 * What a person sees of a conversation of a server: of all that is written there, the run that was last begun where
 * they stand.
 */
export class ShownFeed {
  readonly #options: ShownFeedOptions;
  readonly #approvals: Approvals;
  readonly #run = new ShownRun(() => this.#state);
  /** The command whose turn has not begun, because it waits for MCP servers. */
  #waiting: string | undefined;

  constructor(options: ShownFeedOptions) {
    const { server, person, unsent } = options;
    const { agent, workspace } = server.welcome;
    this.#options = options;
    // The server keeps what is allowed for good.
    const asking = { agent: { name: agent }, workspace, remember: () => {} };
    this.#approvals = new Approvals(person.terminal, person.view, asking, unsent);
  }

  /** Whether a turn here waits for MCP servers: once for each time that a person was told. */
  takeWait(): boolean {
    const waits = this.#waiting !== undefined;
    this.#waiting = undefined;
    return waits;
  }

  /** The run, while it is live. */
  get working(): string | undefined {
    return this.#run.working;
  }

  /** Something happened. */
  show(item: FeedItem): void {
    const { person, prompting } = this.#options;
    const session = this.#options.session();
    if (item.type === "turn.waiting") return this.#tellWait(item);
    if (item.type === "run.started") {
      const isOwn = session?.isOwn(item.run, item.leaf) === true;
      this.#run.begin(item, person.standpoint.place.at, isOwn);
    }
    if (item.type === "message.added" && item.role === "user" && (item.author ?? "user") === "user") this.#heard(item);
    if (this.#run.has(item) && !session?.isShown(item)) person.view.show(item, this.#state);
    if (item.type === "call.approval-requested" || item.type === "question.asked" || item.type === "run.paused")
      this.#ask(item.question);
    if (item.type === "run.ended") this.#approvals.ended(this.#state);
    if (item.type === "run.ended" && this.#run.is(item.run)) {
      if (item.reason === "finished") person.view.answer(taskResult(this.#state.messages.get(item.leaf ?? "")));
      prompting.rested();
    }
  }

  /** What is there already: a run that is under way, and questions that wait. */
  lookAround(): void {
    const { server, person } = this.#options;
    const state = this.#state;
    const isWorking = this.#run.find();
    if (state.messages.size > 0) remind(person.terminal, state, state.leaf, server.welcome.agent);
    if (isWorking) person.view.note("The agent is working; what you write steers it.");
    this.#approvals.opened(state);
    for (const question of state.questions.keys()) this.#ask(question);
  }

  /** It is told again and again; a person reads it once. */
  #tellWait(item: Extract<FeedItem, { type: "turn.waiting" }>): void {
    const { command, waits, reason } = item;
    const { person, server } = this.#options;
    const isNew = waits && this.#waiting !== command;
    this.#waiting = waits ? command : undefined;
    const hint = server.welcome.rights.includes("act") ? " Ctrl-C goes on without." : "";
    if (isNew) person.view.note(oneLine(`${reason}${hint}`));
    else if (!waits && reason !== "") person.view.note(oneLine(reason));
  }

  /** Somebody else has said something where this person looks. */
  #heard(item: Extract<FeedItem, { type: "message.added" }>): void {
    const { person } = this.#options;
    const { live, columns } = person.terminal;
    const message = this.#state.messages.get(item.message);
    if (!message || message.call !== undefined || this.#options.session()?.isOwn(item.message)) return;
    if (!live && this.#run.isAt(message))
      person.view.line(`${person.prompt}${gist(message, Math.max(20, columns - 20))}`);
  }

  /** Asks the person; the rules were asked by the server. */
  #ask(question: string): void {
    const { server, prompting } = this.#options;
    const session = this.#options.session();
    // Who may only watch sees in the transcript that something waits.
    if (!session || !server.welcome.rights.includes("act")) return;
    prompting.ask(() => this.#approvals.ask(session, undefined, question));
  }

  get #state(): ConversationState {
    return this.#options.person.state;
  }
}
