import { slashIn } from "@banyan/client/words";
import type { Delivery, Directive } from "@banyan/core";
import { visibleProse } from "@banyan/core/shown";
import { isCommand, isExit, runsAnytime } from "../../commands/offered-commands.ts";
import { attachableIn } from "../../show/attachment-lines.ts";
import { plainLine } from "../../show/plain-text.ts";
import { commandLine } from "../../terminal/questions/question.ts";
import type { PromptDirective, TalkSession, TalkTurnOptions } from "../session/talk-session.ts";
import type { DeskReach } from "../user/desk-reach.ts";
import type { TerminalUser } from "../user/terminal-user.ts";
import type { UserQuestions } from "../user/user-questions.ts";
import type { OwnDesk } from "./own-desk.ts";
import type { TalkCommands } from "./talk-commands.ts";
import type { Turns } from "./turns.ts";

/** Message for a user who tries to act, but has only the right to watch. */
export const WATCHING =
  "View only: with this token you can see everything here and change nothing. /help lists the commands.";

export interface EnteredLinesOptions {
  readonly own: OwnDesk | undefined;
  /** True if the user has more rights than to watch. */
  readonly mayAct: boolean;
  readonly person: TerminalUser;
  readonly prompting: UserQuestions;
  readonly reach: DeskReach;
  readonly turns: Turns;
  readonly commands: TalkCommands;
  /** Resolves when the user leaves without waiting for the last line. */
  readonly gone: Promise<"gone">;
  session(): TalkSession | undefined;
  /** Id of the live run that the user sees. */
  working(): string | undefined;
  open(): Promise<TalkSession>;
  stop(): void;
  changed(): void;
}

/** Carries out the lines that a user enters: messages, slash commands and shell commands. */
export class EnteredLines {
  readonly #options: EnteredLinesOptions;
  readonly #person: TerminalUser;
  readonly #entered = new PendingEntry();

  constructor(options: EnteredLinesOptions) {
    this.#options = options;
    this.#person = options.person;
  }

  async beginWith(first: string): Promise<void> {
    this.#person.view.gap();
    if (!this.#person.terminal.live) this.#person.terminal.write(`${this.#person.prompt}${visibleProse(first)}\n`);
    await this.#take(first, () => (slashIn(first) ? this.do(first) : this.say(first)));
  }

  /** Carries out a line. A line that does not arrive returns to the prompt. */
  async enter(line: string): Promise<void> {
    if (!this.#isRefused(line)) await this.#take(line, () => this.do(line));
  }

  interrupt(): void {
    this.#entered.interrupt();
  }

  async #take(line: string, work: () => Promise<void>): Promise<void> {
    const { writing } = this.#person;
    writing.send(line);
    this.#options.reach.sends(line);
    try {
      const doing = this.#options.prompting.doing(this.#entered.unlessInterrupted(work));
      // A user who leaves finds the line as a draft on return.
      const came = await Promise.race([doing, this.#options.gone]);
      if (came === "gone") return;
      if (came === "interrupted") {
        writing.returned();
        this.#note(NOT_SENT);
      } else writing.arrived();
    } catch (error) {
      this.#person.tell(error);
      writing.returned();
    }
  }

  /** Handles a line typed while the agent works. Returns false for a line that must wait for the agent's answer. */
  typed(message: string, later: boolean): boolean {
    if (this.#options.working() === undefined) return false;
    if (this.#isRefused(message)) return true;
    const command = commandLine(message);
    if (command === undefined) this.#person.interject(message, later);
    // Leaving a server needs no wait, because its runs continue.
    else if (runsAnytime(command, this.#options.commands.user) || (!this.#options.own && isExit(command))) {
      this.#person.terminal.live?.view.command(message);
      this.#person.inBackground(this.do(message));
    } else return false;
    return true;
  }

  /** Returns whether the user lacks the right for a line, and tells them. The server would refuse it too (S28). */
  #isRefused(line: string): boolean {
    if (this.#options.mayAct || isCommand(commandLine(line) ?? "", this.#options.commands.user)) return false;
    this.#note(WATCHING);
    return true;
  }

  async do(line: string): Promise<void> {
    const { ownCommands, standpoint } = this.#person;
    if (line.startsWith("!")) return ownCommands.run(line);
    const command = commandLine(line);
    if (command === undefined) return this.say(line);
    // A restarted server may still be sending the contents of messages. Leaving does not wait for them.
    if (!isExit(command)) await this.#options.session()?.read();
    const next = await this.#options.commands.run(command);
    this.#options.changed();
    if (next.type !== "turn") return next.type === "leave" ? this.#options.stop() : undefined;
    const { type: _, directive, at, ...how } = next;
    if (directive.type === "prompt") this.#person.writing.says();
    // Another agent only reviews the branch, so the user does not leave it.
    if (directive.type === "retry" && how.agent === undefined && !(await standpoint.mayRetry(at))) return;
    return this.#turn(directive, { at: at ?? standpoint.target.at, ...how });
  }

  /** Sends a text to the visible run. Without a run, or for a revision, the text begins a turn. */
  async say(text: string, delivery: Delivery = "steer"): Promise<void> {
    const parts = this.#person.written(text);
    const run = this.#options.working();
    const { at, revise } = this.#person.standpoint.target;
    if (revise || run === undefined) return this.#turn({ type: revise ? "retry" : "say", parts }, { at }, text);
    const about = await (await this.#options.open()).say(parts, { run, delivery, mode: this.#options.turns.mode });
    this.#person.tellAttached(about, attachableIn(text));
  }

  async #turn(directive: Directive | PromptDirective, how: Omit<TalkTurnOptions, "mode">, text = ""): Promise<void> {
    if (directive.type === "stop") return this.#options.stop();
    for (const notice of (await this.#options.own?.ready()) ?? []) this.#note(notice);
    const session = await this.#options.open();
    // From here on the server knows which turn to interrupt.
    this.#entered.signal?.throwIfAborted();
    const model = how.model ?? this.#options.turns.otherModel;
    const { standpoint } = this.#person;
    const { target, below } = standpoint;
    const isBeside = session.live.length > 0;
    const about = await session.turn(directive, { ...how, model, mode: this.#options.turns.mode });
    this.#person.tellAttached(about, attachableIn(text));
    // While other branches work, the user stays here: the end of the turn moves them to its last message.
    if (isBeside && target.at !== undefined && how.at === target.at && below !== null) standpoint.standAt(below);
    else standpoint.goBack();
  }

  #note(sentence: string): void {
    this.#person.view.note(plainLine(sentence));
  }
}

const NOT_SENT = "Stopped before the turn began. Nothing was sent.";

/** The user's last line until its run can be interrupted. Before a run exists, files are read and tools are started. */
class PendingEntry {
  #waiting: AbortController | undefined;

  /** Aborts when the last line must not begin a run; undefined if no line is pending. */
  get signal(): AbortSignal | undefined {
    return this.#waiting?.signal;
  }

  interrupt(): void {
    this.#waiting?.abort();
  }

  /** Resolves with the result of `work`, or with "interrupted" if the user interrupts earlier. Rejects like `work`. */
  async unlessInterrupted<Begun>(work: () => Promise<Begun | undefined>): Promise<Begun | "interrupted" | undefined> {
    const waiting = new AbortController();
    this.#waiting = waiting;
    try {
      const begun = await work();
      return begun !== undefined && waiting.signal.aborted ? "interrupted" : begun;
    } catch (error) {
      if (waiting.signal.aborted) return "interrupted";
      throw error;
    } finally {
      this.#waiting = undefined;
    }
  }
}
