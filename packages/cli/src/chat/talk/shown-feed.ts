import type { Client } from "@banyan/client";
import { describeShortfall } from "@banyan/client/words";
import { type ConversationState, type FeedItem, pathTo } from "@banyan/core";
import { endReason } from "@banyan/core/conversation";
import { CallsFor } from "@banyan/host";
import { branchLabel, gist } from "../../show/message-label.ts";
import { plainLine } from "../../show/plain-text.ts";
import { runsBeside } from "../../show/sub-agents.ts";
import { lastResponse, runEndSentence, type TurnEnd, turnEndText, turnLine } from "../../show/turn-end.ts";
import type { TalkSession } from "../session/talk-session.ts";
import { Approvals } from "../user/approvals.ts";
import { isKnownInterruption, remindOfUnfinished } from "../user/standpoint.ts";
import type { TerminalUser } from "../user/terminal-user.ts";
import type { UnsentTexts } from "../user/unsent-texts.ts";
import type { UserQuestions } from "../user/user-questions.ts";
import { ShownRun } from "../views/shown-run.ts";

export interface ShownFeedOptions {
  readonly client: Client;
  readonly person: TerminalUser;
  readonly prompting: UserQuestions;
  readonly unsent: UnsentTexts;
  session(): TalkSession | undefined;
  ended(end: TurnEnd): void;
}

/** Shows the user one run of a conversation: the latest run that began on the user's branch. */
export class ShownFeed {
  readonly #options: ShownFeedOptions;
  readonly #approvals: Approvals;
  readonly #run = new ShownRun(() => this.#state);
  readonly #callsFor = new CallsFor();
  /** The command whose turn waits for MCP servers. */
  #waiting: string | undefined;

  constructor(options: ShownFeedOptions) {
    const { client, person, unsent } = options;
    this.#options = options;
    this.#approvals = new Approvals(person.terminal, person.view, client.welcome, unsent);
  }

  /** Returns whether a turn waits for MCP servers: true once per notice to the user. */
  takeWait(): boolean {
    const waits = this.#waiting !== undefined;
    this.#waiting = undefined;
    return waits;
  }

  get working(): string | undefined {
    return this.#run.working;
  }

  left(): void {
    this.#run.leave();
    this.#waiting = undefined;
  }

  show(item: FeedItem): void {
    const { person } = this.#options;
    const session = this.#options.session();
    if (item.type === "turn.waiting") return this.#tellWait(item);
    const calling = this.#callsFor.hear(item, this.#state);
    if (calling) person.terminal.live?.call(calling.sentence);
    if (item.type === "run.started" && !session?.isAside(item.leaf)) {
      const isOwn = session?.isOwn(item.run, item.leaf) === true;
      this.#run.begin(item, person.standpoint.target.at, isOwn);
    }
    if (item.type === "message.added" && item.role === "user" && (item.author ?? "user") === "user") this.#heard(item);
    const isShown = session && (session.isShown(item) || isKnownInterruption(session, item));
    if (this.#run.has(item) && !isShown) person.view.show(item, this.#state);
    if (item.type === "call.approval-requested" || item.type === "question.asked" || item.type === "run.paused")
      this.#ask(item.question);
    if (item.type === "run.ended") this.#approvals.ended(this.#state);
    if (item.type === "run.ended" && !this.#run.is(item.run)) this.#endedBeside(item);
    if (item.type === "run.ended" && this.#run.is(item.run)) {
      // The user was viewing an ancestor: move them to the new leaf.
      const { at } = person.standpoint.target;
      if (at !== undefined && pathTo(this.#state, item.leaf).some(({ id }) => id === at))
        person.standpoint.wrote(item.leaf ?? undefined);
      this.#ended(item);
    }
  }

  #ended(end: TurnEnd): void {
    const { person, prompting, client } = this.#options;
    if (!person.terminal.live)
      for (const line of turnLine(end, this.#state, client.welcome.settings.model)) person.view.note(line);
    if (end.reason === "finished") person.view.answer(turnEndText(end, this.#state));
    this.#options.ended(end);
    prompting.rested();
  }

  #endedBeside(end: TurnEnd): void {
    const { person, prompting } = this.#options;
    const session = this.#options.session();
    const path = pathTo(this.#state, end.leaf);
    const leaf = path.at(-1);
    if (!session || !leaf || leaf.call !== undefined) return;
    const { at } = person.standpoint.target;
    const isAside = path.some(({ id }) => session.isAside(id));
    if (!isAside && (at === undefined || path.some(({ id }) => id === at))) return;
    const { style } = person.terminal;
    const why = runEndSentence(end.reason, endReason(end), style) ?? describeShortfall(lastResponse(end, this.#state));
    person.view.note(plainLine(`${branchLabel(this.#state, leaf.id)} is done.${why === undefined ? "" : ` ${why}`}`));
    if (runsBeside(session.live, this.#run.working).length === 0)
      person.view.note("/compare shows the branches side by side, /branch goes to one.");
    prompting.rested();
  }

  /** Shows the live run and open questions of a conversation that was just entered. */
  lookAround(): void {
    const { client, person } = this.#options;
    const session = this.#options.session();
    if (!session) return;
    const { state, live } = session;
    const isWorking = this.#run.find(live);
    if (state.messages.size > 0)
      remindOfUnfinished(person.terminal, session, person.standpoint.leaf, client.welcome.agent);
    for (const { reason } of session.narrowed)
      person.view.note(plainLine(`A rule that you added to this conversation now allows fewer calls: ${reason}`));
    if (isWorking) person.view.note("The agent is working. Your messages reach the agent while it works.");
    this.#approvals.opened(state);
    // Another process left these runs unfinished. The user can answer waiting runs; the others ask again.
    const asking = new Set(
      [...live, ...state.waiting.values()].flatMap(({ id, leaf }) => [
        id,
        ...pathTo(state, leaf).map((message) => message.id),
      ]),
    );
    for (const question of state.questions.values())
      if (asking.has(question.type === "limit" ? question.run : question.message)) this.#ask(question.id);
  }

  /** The server repeats this item. Show it once. */
  #tellWait(item: Extract<FeedItem, { type: "turn.waiting" }>): void {
    const { command, waits, reason } = item;
    const { person, client } = this.#options;
    const isNew = waits && this.#waiting !== command;
    this.#waiting = waits ? command : undefined;
    const hint = client.welcome.rights.includes("act") ? " Ctrl-C continues without them." : "";
    if (isNew) person.view.note(plainLine(`${reason}${hint}`));
    else if (!waits && reason !== "") person.view.note(plainLine(reason));
  }

  /** Another client sent a message on the branch that the user views. */
  #heard(item: Extract<FeedItem, { type: "message.added" }>): void {
    const { person } = this.#options;
    const { live, columns } = person.terminal;
    const message = this.#state.messages.get(item.message);
    const session = this.#options.session();
    if (!message || message.call !== undefined) return;
    if (session?.isOwn(item.message) || session?.isAside(item.message)) return;
    if (!live && this.#run.isAt(message))
      person.view.line(`${person.prompt}${gist(message, Math.max(20, columns - 20))}`);
  }

  /** Asks the user. The server has already applied the rules. */
  #ask(question: string): void {
    const { client, prompting } = this.#options;
    const session = this.#options.session();
    // A user who may only watch sees the waiting call in the transcript.
    if (!session || !client.welcome.rights.includes("act")) return;
    prompting.ask(() => this.#approvals.ask(session, question));
  }

  get #state(): ConversationState {
    return this.#options.person.state;
  }
}
