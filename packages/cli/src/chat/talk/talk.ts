import type { Client, ConnectionState } from "@banyan/client";
import type { Delivery, Directive } from "@banyan/core";
import { slashIn, visibleProse } from "@banyan/core/shown";
import { isCommand, isExit, runsAnytime } from "../../commands/offered.ts";
import type { ExitCode } from "../../exit.ts";
import { attachableIn } from "../../show/attached.ts";
import { oneLine } from "../../show/plain-text.ts";
import { commandLine, type TalkAction, type Terminal } from "../../terminal/terminal.ts";
import { ApprovalChoice } from "../user/approval-choice.ts";
import { NOT_SENT, PendingEntry } from "../user/entered.ts";
import { TerminalUser, type TerminalUserOptions } from "../user/person.ts";
import { UserQuestions } from "../user/prompting.ts";
import { DeskReach } from "../user/reach.ts";
import { saidBefore } from "../views/exchange.ts";
import { PromptStatus } from "../views/shown-status.ts";
import { changesStatus } from "../views/status-of.ts";
import type { TerminalPartner } from "./at-terminal.ts";
import { CurrentConversation } from "./current-conversation.ts";
import { contextSizeOf } from "./models-here.ts";
import type { OwnDesk } from "./own-desk.ts";
import { ShownFeed } from "./shown-feed.ts";
import { TalkCommands } from "./talk-commands.ts";
import type { PromptDirective, TalkSession, TalkTurnOptions } from "./talk-session.ts";
import { Turns } from "./turns.ts";

/** Reply to a user without the right to act. */
const WATCHING = "View only: with this token you can see everything here and change nothing. /help lists the commands.";

/** The user, the client and the desk of a conversation. */
export interface TalkOptions extends Pick<TerminalUserOptions, "place" | "prompt" | "terminal" | "unsent"> {
  readonly client: Client;
  /** This program's own desk: its runs end with the talk, and more commands are available. Absent at a server. */
  readonly own?: OwnDesk | undefined;
  /** Address of the server; absent at this program's own desk. */
  readonly address?: string | undefined;
  /** The user's own command for the status line. */
  readonly statusCommand?: string | undefined;
  /** Marks the first message as a task. `once`: the program ends with the task. */
  readonly task?: "once" | "first" | undefined;
}

/**
 * A user's conversation with an agent. Input goes to the desk of this program or of a server, and the feed shows what
 * every client sees. The user sees one branch: the latest run that began at their place.
 */
export class Talk implements TerminalPartner {
  readonly #client: Client;
  readonly #own: OwnDesk | undefined;
  readonly #terminal: Terminal;
  readonly #person: TerminalUser;
  readonly #prompting: UserQuestions;
  readonly #entered = new PendingEntry();
  readonly #feed: ShownFeed;
  readonly #conversation: CurrentConversation;
  readonly #approval: ApprovalChoice;
  readonly #turns: Turns;
  readonly #commands: TalkCommands;
  /** Resolves when the user leaves without waiting for pending work. */
  readonly #gone = Promise.withResolvers<"gone">();
  readonly #reach: DeskReach;
  readonly #status: PromptStatus;

  constructor({ client, own, address, task, statusCommand: command, ...seat }: TalkOptions) {
    const { agent } = client.welcome;
    this.#client = client;
    this.#own = own;
    this.#terminal = seat.terminal;
    this.#person = new TerminalUser({
      ...seat,
      agent,
      isWatching: !this.#mayAct,
      session: () => this.session,
      deliver: (text, delivery) => this.#say(text, delivery),
      add: async (parts) => {
        const { standpoint } = this.#person;
        standpoint.wrote(await (await this.#open()).add(parts, { at: standpoint.below, run: this.#feed.working }));
      },
      revert: async (left) => (await this.#open()).revert(left),
    });
    this.#prompting = new UserQuestions({
      terminal: seat.terminal,
      isWorking: () => this.#feed.working !== undefined,
      mayLeave: own === undefined,
      prompted: (isWorking) => {
        if (!isWorking) this.#person.view.gap();
        return { prompt: isWorking ? "" : this.#person.prompt, initial: this.#person.writing.takeDraft() };
      },
    });
    const [person, prompting, { unsent }] = [this.#person, this.#prompting, seat];
    this.#feed = new ShownFeed({
      ...{ client, person, prompting, unsent },
      session: () => this.session,
      ended: (end) => {
        this.#turns.ended(end);
        if (this.#turns.isDone) this.#stop();
        else this.#person.tellHeld();
      },
    });
    this.#conversation = new CurrentConversation(client, own, {
      happened: (item, state) => {
        if (item.type === "call.denied") this.#turns.denied(item, state);
        this.#feed.show(item);
        if (changesStatus(item, state)) this.#status.show();
      },
      renewed: (session) => this.#renewed(session),
      gone: (why) => this.end(why),
      lost: (problem) => this.#lost(problem),
    });
    this.#reach = new DeskReach(seat.terminal, person);
    this.#status = new PromptStatus({
      ...{ ...seat, command, state: () => person.state },
      standing: () => ({
        ...{ run: this.#feed.working, leaf: person.standpoint.leaf, contextSize: own && contextSizeOf(own.host) },
        ...{ mode: this.#turns.mode, approval: this.#approval.mode, model: this.#turns.model },
        live: this.session?.live ?? [],
      }),
      tell: (sentence) => this.note(sentence),
    });
    this.#approval = new ApprovalChoice({
      ...{ client, terminal: seat.terminal },
      note: (sentence) => this.note(sentence),
      here: () => this.session?.id,
      open: () => this.#open(),
    });
    this.#turns = new Turns({ client, own, task, state: () => person.state, changed: () => this.#status.show() });
    this.#commands = new TalkCommands({
      ...{ client, own, address, person, turns: this.#turns, approval: this.#approval },
      session: () => this.session,
      working: () => this.#feed.working,
      isAway: () => !this.#reach.isUp,
      open: () => this.#open(),
      enter: (conversation) => this.enter(conversation),
      begin: () => this.#begin(),
    });
  }

  /** The conversation; undefined before the first message. */
  get session(): TalkSession | undefined {
    return this.#conversation.session;
  }

  /** Id of the conversation to resume, if it has messages. */
  get kept(): string | undefined {
    return this.#conversation.kept;
  }

  /** Exit code of the program: the task's result if `task` is `once` (T35). */
  get exit(): ExitCode {
    return this.#turns.exit;
  }

  /** The first message begins a conversation. Until then drafts are stored for this place: a folder or an address. */
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
    this.#terminal.live?.configure({ history: saidBefore(session.state, this.#person.standpoint.leaf) });
    this.#status.show();
    this.#feed.lookAround();
    return session;
  }

  /** Talks until the user leaves or a `once` task is done. Sends `first` at once. */
  async run(first?: string): Promise<void> {
    if (first === undefined) this.#person.tellHeld();
    else await this.#beginWith(first);
    while (!this.#prompting.isOver) {
      const line = await this.#prompting.read();
      if (line === undefined) break;
      if (line.trim() === "") continue;
      if (this.typed(line, false)) continue;
      if (!this.#isRefused(line)) await this.#take(line, () => this.#do(line));
    }
    this.#prompting.end();
    await this.#status[Symbol.asyncDispose]();
  }

  /** Sends the message from the command line. */
  async #beginWith(first: string): Promise<void> {
    this.#person.view.gap();
    if (!this.#terminal.live) this.#terminal.write(`${this.#person.prompt}${visibleProse(first)}\n`);
    await this.#take(first, () => (slashIn(first) ? this.#do(first) : this.#say(first)));
  }

  /** Carries out a line of the user. If the line is not delivered, it returns to the prompt. */
  async #take(line: string, work: () => Promise<void>): Promise<void> {
    const { writing } = this.#person;
    writing.send(line);
    this.#reach.sends(line);
    try {
      const doing = this.#prompting.doing(this.#entered.unlessInterrupted(work));
      // A user who leaves finds the line as a draft on return.
      const came = await Promise.race([doing, this.#gone.promise]);
      if (came === "gone") return;
      if (came === "interrupted") {
        writing.returned();
        this.note(NOT_SENT);
      } else writing.arrived();
    } catch (error) {
      this.#person.tell(error);
      writing.returned();
    }
  }

  typed(message: string, later: boolean): boolean {
    if (this.#feed.working === undefined) return false;
    if (this.#isRefused(message)) return true;
    const command = commandLine(message);
    if (command === undefined) this.#person.interject(message, later);
    // Leaving a server needs no wait, as its runs continue.
    else if (runsAnytime(command, this.#commands.user) || (!this.#own && isExit(command))) {
      this.#person.terminal.live?.view.command(message);
      this.#person.inBackground(this.#do(message));
    } else return false;
    return true;
  }

  /**
   * Ends the user's shell command, or the wait for MCP servers, or the run for all clients. Nothing can be ended
   * without a connection, and pending work may wait for ever: then the second call leaves.
   */
  interrupt(): void {
    if (this.#person.ownCommands.stop()) return;
    if (!this.#mayAct) return this.#reach.isUp ? this.note(WATCHING) : this.#go();
    if (!this.#reach.isUp) return this.#reach.warn() ? undefined : this.#go();
    if (this.session && this.#feed.takeWait())
      return this.#person.inBackground(this.session.perform("turn.hasten", {}));
    this.#entered.interrupt();
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
        this.#person.inBackground(this.#do("/agents"));
        break;
      case "rewind":
        this.#person.inBackground(this.#rewind());
        break;
      case "take-back":
        this.#person.takeBack();
        break;
    }
  }

  /** Leaves at once. Runs at a server continue. */
  leave(): void {
    this.#gone.resolve("gone");
    this.#stop();
  }

  /** The connection has changed. */
  connection(state: ConnectionState): void {
    if (state.phase === "gone") return this.end(state.error.message);
    this.#reach.changed(state);
    if (state.phase !== "open") return;
    this.#approval.settingsChanged();
    this.#status.show();
  }

  /** The connection or the conversation is lost for good. */
  end(why: string): void {
    this.#person.view.say(oneLine(why));
    // Draw the reason before the terminal closes, so that the user knows why they are back in the shell.
    this.#person.inBackground((this.#terminal.live?.settled() ?? Promise.resolve()).then(() => this.#go()));
  }

  /** Shows an unexpected error. */
  tell(error: unknown): void {
    this.#person.tell(error);
  }

  /** Shows a minor notice. */
  note(sentence: string): void {
    this.#person.view.note(oneLine(sentence));
  }

  get #mayAct(): boolean {
    return this.#client.welcome.rights.includes("act");
  }

  /** Returns whether the user lacks the right for a line, and tells them: the server would refuse it (S28). */
  #isRefused(line: string): boolean {
    if (this.#mayAct || isCommand(commandLine(line) ?? "", this.#commands.user)) return false;
    this.note(WATCHING);
    return true;
  }

  async #do(line: string): Promise<void> {
    const { ownCommands, standpoint } = this.#person;
    if (line.startsWith("!")) return ownCommands.run(line);
    const command = commandLine(line);
    if (command === undefined) return this.#say(line);
    // A restarted server may still be sending the contents of messages. Leaving does not wait for them.
    if (!isExit(command)) await this.session?.read();
    const next = await this.#commands.run(command);
    this.#status.show();
    if (next.type !== "turn") return next.type === "leave" ? this.#stop() : undefined;
    const { type: _, directive, at, ...how } = next;
    if (directive.type === "prompt") this.#person.writing.says();
    // Another agent only reviews the branch, so the user does not leave it.
    if (directive.type === "retry" && how.agent === undefined && !(await standpoint.mayRetry(at))) return;
    return this.#turn(directive, { at: at ?? standpoint.place.at, ...how });
  }

  /** Sends a text to the shown run. Without a run, or for a revision, the text begins a turn. */
  async #say(text: string, delivery: Delivery = "steer"): Promise<void> {
    const parts = this.#person.written(text);
    const run = this.#feed.working;
    const { at, revise } = this.#person.standpoint.place;
    if (revise || run === undefined) return this.#turn({ type: revise ? "retry" : "say", parts }, { at }, text);
    const about = await (await this.#open()).say(parts, { run, delivery, mode: this.#turns.mode });
    this.#person.tellAttached(about, attachableIn(text));
  }

  /** Begins a turn. `text` is what the user wrote. */
  async #turn(directive: Directive | PromptDirective, how: Omit<TalkTurnOptions, "mode">, text = ""): Promise<void> {
    if (directive.type === "stop") return this.#stop();
    for (const notice of (await this.#own?.ready()) ?? []) this.note(notice);
    const session = await this.#open();
    // From here on the desk knows which turn to interrupt.
    this.#entered.signal?.throwIfAborted();
    const model = how.model ?? this.#turns.otherModel;
    const about = await session.turn(directive, { ...how, model, mode: this.#turns.mode });
    this.#person.tellAttached(about, attachableIn(text));
    this.#person.standpoint.goBack();
  }

  /** Returns the conversation, and begins it if there is none yet. */
  #open(): Promise<TalkSession> {
    return this.#conversation.open((id) => this.enter(id));
  }

  /** Leaves the conversation for a new one. Resolves with the old id, if there was one. */
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
    this.#person.view.note("The server restarted. /resume continues what was interrupted.");
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

  /** Ends the prompt. The last line is still carried out. */
  #stop(): void {
    this.#prompting.end();
    this.#person.leave();
  }

  #go(): void {
    this.leave();
    this.#terminal.close();
  }
}
