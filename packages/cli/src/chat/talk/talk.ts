import type { Client, ConnectionState } from "@banyan/client";
import { rightFor } from "@banyan/protocol";
import type { ExitCode } from "../../program/exit.ts";
import { plainLine } from "../../show/plain-text.ts";
import type { TalkAction, Terminal } from "../../terminal/contract/terminal.ts";
import type { TalkSession } from "../session/talk-session.ts";
import { ApprovalChoice } from "../user/approval-choice.ts";
import { DeskReach } from "../user/desk-reach.ts";
import { TerminalUser, type TerminalUserOptions } from "../user/terminal-user.ts";
import { UserQuestions } from "../user/user-questions.ts";
import { userMessagesOn } from "../views/exchange.ts";
import { changesStatus } from "../views/prompt-status.ts";
import { PromptStatus } from "../views/shown-status.ts";
import type { TerminalPartner } from "./at-terminal.ts";
import { CurrentConversation } from "./current-conversation.ts";
import { EnteredLines, WATCHING } from "./entered-lines.ts";
import { contextSizeOf } from "./models-here.ts";
import type { OwnDesk } from "./own-desk.ts";
import { ShownFeed } from "./shown-feed.ts";
import { TalkCommands } from "./talk-commands.ts";
import { Turns } from "./turns.ts";

export interface TalkOptions extends Pick<TerminalUserOptions, "context" | "prompt" | "terminal" | "unsent"> {
  readonly client: Client;
  /**
   * The desk of an agent in this process. Its runs end with the talk, and it offers more commands. Absent on a server.
   */
  readonly own?: OwnDesk | undefined;
  readonly address?: string | undefined;
  readonly statusCommand?: string | undefined;
  /** Set if the first message is a task. `once`: the program ends when the task ends. */
  readonly task?: "once" | "first" | undefined;
}

/** A user's conversation with an agent, in this process or on a server. Shows the latest run of the user's branch. */
export class Talk implements TerminalPartner {
  readonly #client: Client;
  readonly #own: OwnDesk | undefined;
  readonly #terminal: Terminal;
  readonly #person: TerminalUser;
  readonly #prompting: UserQuestions;
  readonly #feed: ShownFeed;
  readonly #conversation: CurrentConversation;
  readonly #approval: ApprovalChoice;
  readonly #turns: Turns;
  readonly #commands: TalkCommands;
  readonly #lines: EnteredLines;
  readonly #gone = Promise.withResolvers<"gone">();
  readonly #reach: DeskReach;
  readonly #status: PromptStatus;

  constructor({ client, own, address, task, statusCommand, ...seat }: TalkOptions) {
    this.#client = client;
    this.#own = own;
    this.#terminal = seat.terminal;
    this.#person = this.#seated(seat);
    this.#prompting = this.#promptingAt(seat.terminal);
    this.#feed = this.#shownFeed(seat.unsent);
    this.#conversation = this.#currentConversation();
    this.#reach = new DeskReach(seat.terminal, this.#person);
    this.#status = this.#shownStatus(seat, statusCommand);
    this.#approval = new ApprovalChoice({
      client,
      terminal: seat.terminal,
      note: (sentence) => this.note(sentence),
      here: () => this.session?.id,
      open: () => this.#open(),
    });
    const state = () => this.#person.state;
    this.#turns = new Turns({ client, own, task, state, changed: () => this.#status.show() });
    this.#commands = this.#slashCommands(address);
    this.#lines = this.#enteredLines();
  }

  #seated(seat: Pick<TalkOptions, "context" | "prompt" | "terminal" | "unsent">): TerminalUser {
    return new TerminalUser({
      ...seat,
      agent: this.#client.welcome.agent,
      isWatching: !this.#mayAct,
      session: () => this.session,
      deliver: (text, delivery) => this.#lines.say(text, delivery),
      add: async (parts) => {
        const { standpoint } = this.#person;
        standpoint.wrote(await (await this.#open()).add(parts, { at: standpoint.below, run: this.#feed.working }));
      },
      compare: async (place) => (this.#mayRewind ? (await this.#open()).compare(place) : undefined),
      rewind: async (place) => (await this.#open()).rewind(place),
    });
  }

  #promptingAt(terminal: Terminal): UserQuestions {
    return new UserQuestions({
      terminal,
      isWorking: () => this.#feed.working !== undefined,
      mayLeave: this.#own === undefined,
      prompted: (isWorking) => {
        if (!isWorking) this.#person.view.gap();
        return { prompt: isWorking ? "" : this.#person.prompt, initial: this.#person.writing.takeDraft() };
      },
    });
  }

  #shownFeed(unsent: TalkOptions["unsent"]): ShownFeed {
    return new ShownFeed({
      client: this.#client,
      person: this.#person,
      prompting: this.#prompting,
      unsent,
      session: () => this.session,
      ended: (end) => {
        this.#turns.ended(end);
        if (this.#turns.isDone) this.#stop();
        else this.#person.tellHeld();
      },
    });
  }

  #currentConversation(): CurrentConversation {
    return new CurrentConversation(this.#client, this.#own, {
      happened: (item, state) => {
        if (item.type === "call.denied") this.#turns.denied(item, state);
        this.#feed.show(item);
        if (changesStatus(item, state)) this.#status.show();
      },
      renewed: (session) => this.#renewed(session),
      gone: (why) => this.end(why),
      lost: (problem) => this.#lost(problem),
    });
  }

  #shownStatus(seat: Pick<TalkOptions, "context" | "terminal">, command: string | undefined): PromptStatus {
    return new PromptStatus({
      ...seat,
      command,
      state: () => this.#person.state,
      prompt: () => this.#person.prompt,
      worktree: () => this.#person.worktree(),
      standing: () => ({
        run: this.#feed.working,
        leaf: this.#person.standpoint.leaf,
        contextSize: this.#own && contextSizeOf(this.#own.host),
        mode: this.#turns.mode,
        approval: this.#approval.mode,
        model: this.#turns.model,
        live: this.session?.live ?? [],
      }),
      tell: (sentence) => this.note(sentence),
    });
  }

  #slashCommands(address: string | undefined): TalkCommands {
    return new TalkCommands({
      client: this.#client,
      own: this.#own,
      address,
      person: this.#person,
      turns: this.#turns,
      approval: this.#approval,
      session: () => this.session,
      working: () => this.#feed.working,
      isAway: () => !this.#reach.isUp,
      open: () => this.#open(),
      enter: (conversation) => this.enter(conversation),
      begin: () => this.#begin(),
    });
  }

  #enteredLines(): EnteredLines {
    return new EnteredLines({
      own: this.#own,
      mayAct: this.#mayAct,
      person: this.#person,
      prompting: this.#prompting,
      reach: this.#reach,
      turns: this.#turns,
      commands: this.#commands,
      gone: this.#gone.promise,
      session: () => this.session,
      working: () => this.#feed.working,
      open: () => this.#open(),
      stop: () => this.#stop(),
      changed: () => this.#status.show(),
    });
  }

  get session(): TalkSession | undefined {
    return this.#conversation.session;
  }

  get kept(): string | undefined {
    return this.#conversation.kept;
  }

  /** Exit code of the program: the task's result if `task` is `once` (T35). */
  get exit(): ExitCode {
    return this.#turns.exit;
  }

  /** Sets the folder or address for which drafts are stored until the first message begins a conversation. */
  beginAt(place: string): void {
    this.#person.writing.isFor(place);
    this.#status.show();
  }

  /** Leaves the current conversation and enters another one, at message `at` if given. Shows its state. */
  async enter(conversation: string, at?: string): Promise<TalkSession> {
    this.#stepOut();
    await this.#conversation.leave();
    const session = await this.#conversation.enter(conversation, () => {
      this.#person.standpoint.goBack();
      if (at !== undefined) this.#person.standpoint.standAt(at);
      this.#approval.entered();
      this.#person.writing.isFor(conversation);
    });
    this.#terminal.live?.follow(session.state);
    this.#terminal.live?.configure({ history: userMessagesOn(session.state, this.#person.standpoint.leaf) });
    this.#status.show();
    this.#feed.lookAround();
    return session;
  }

  /** Talks until the user leaves or a `once` task is done. Sends `first` at once. */
  async run(first?: string): Promise<void> {
    if (first === undefined) this.#person.tellHeld();
    else await this.#lines.beginWith(first);
    while (!this.#prompting.isOver) {
      const line = await this.#prompting.read();
      if (line === undefined) break;
      if (line.trim() === "") continue;
      if (!this.typed(line, false)) await this.#lines.enter(line);
    }
    this.#prompting.end();
    await this.#status[Symbol.asyncDispose]();
  }

  typed(message: string, later: boolean): boolean {
    return this.#lines.typed(message, later);
  }

  /**
   * Ends the user's shell command, else the wait for MCP servers, else the run for all clients. If nothing can be
   * ended, a second call leaves: there may be no connection, or work that waits for ever.
   */
  interrupt(): void {
    if (this.#person.ownCommands.stop()) return;
    if (!this.#mayAct) return this.#reach.isUp ? this.note(WATCHING) : this.#go();
    if (!this.#reach.isUp) return this.#reach.warn() ? undefined : this.#go();
    if (this.session && this.#feed.takeWait())
      return this.#person.inBackground(this.session.perform("turn.hasten", {}));
    this.#lines.interrupt();
    if (this.session) this.#person.inBackground(this.#interrupt(this.session));
  }

  async #interrupt(session: TalkSession): Promise<void> {
    const ended = await session.interrupt(this.#feed.working);
    // The session kills running calls at once (T3).
    if (ended === 0 && session.state.runs.size > 0) this.note("Killing the commands that are still running.");
  }

  act(action: TalkAction): void {
    if (!this.#mayAct && action !== "agents") return this.note(WATCHING);
    switch (action) {
      case "approval-mode":
        this.#person.inBackground(this.#approval.next());
        break;
      case "agents":
        this.#person.inBackground(this.#lines.do("/agents"));
        break;
      case "rewind":
        this.#person.inBackground(this.#rewind());
        break;
      case "take-back":
        this.#person.takeBack();
        break;
    }
  }

  leave(): void {
    this.#gone.resolve("gone");
    this.#stop();
  }

  connection(state: ConnectionState): void {
    if (state.phase === "gone") return this.end(state.error.message);
    this.#reach.changed(state);
    if (state.phase !== "open") return;
    this.#approval.settingsChanged();
    this.#status.show();
  }

  end(why: string): void {
    this.#person.view.say(plainLine(why));
    // Draw the reason before the terminal closes, so that the user knows why they are back in the shell.
    this.#person.inBackground((this.#terminal.live?.settled() ?? Promise.resolve()).then(() => this.#go()));
  }

  tell(error: unknown): void {
    this.#person.tell(error);
  }

  note(sentence: string): void {
    this.#person.view.note(plainLine(sentence));
  }

  get #mayAct(): boolean {
    return this.#client.welcome.rights.includes("act");
  }

  get #mayRewind(): boolean {
    const { rights, without } = this.#client.welcome;
    return rights.includes(rightFor("file.rewind")) && !without?.includes("file.rewind");
  }

  #open(): Promise<TalkSession> {
    return this.#conversation.open((id) => this.enter(id));
  }

  async #begin(): Promise<string | undefined> {
    this.#stepOut();
    const left = await this.#conversation.leave();
    this.beginAt(this.#client.welcome.workspace);
    return left;
  }

  #stepOut(): void {
    this.#feed.left();
    this.#person.standpoint.goBack();
    this.#terminal.live?.follow(undefined);
  }

  /** The server restarted and interrupted its runs. */
  #renewed(session: TalkSession): void {
    this.#terminal.live?.follow(session.state);
    this.#status.show();
    this.#person.inBackground(session.read());
    this.#person.view.note("The server restarted. /resume continues the interrupted work.");
    this.#prompting.rested();
  }

  #lost(problem: Error): void {
    this.#stepOut();
    this.#status.show();
    this.#person.tellLoss(problem);
    this.#prompting.rested();
  }

  async #rewind(): Promise<void> {
    await this.session?.read();
    await this.#person.standpoint.rewind();
    this.#status.show();
  }

  #stop(): void {
    this.#prompting.end();
    this.#person.leave();
  }

  #go(): void {
    this.leave();
    this.#terminal.close();
  }
}
