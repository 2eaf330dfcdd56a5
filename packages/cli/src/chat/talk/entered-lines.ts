import { slashIn } from "@banyan/client/words";
import type { Delivery, Directive } from "@banyan/core";
import { visibleProse } from "@banyan/core/shown";
import { isCommand, isExit, runsAnytime } from "../../commands/offered.ts";
import { attachableIn } from "../../show/attached.ts";
import { plainLine } from "../../show/plain-text.ts";
import { commandLine } from "../../terminal/questions/question.ts";
import type { PromptDirective, TalkSession, TalkTurnOptions } from "../session/talk-session.ts";
import type { TerminalUser } from "../user/person.ts";
import type { UserQuestions } from "../user/prompting.ts";
import type { DeskReach } from "../user/reach.ts";
import type { OwnDesk } from "./own-desk.ts";
import type { TalkCommands } from "./talk-commands.ts";
import type { Turns } from "./turns.ts";

/** Tells a guest who tries to act that only watching is allowed. */
export const WATCHING =
  "View only: with this token you can see everything here and change nothing. /help lists the commands.";

/** The parts of a talk that a line reaches. */
export interface EnteredLinesOptions {
  readonly own: OwnDesk | undefined;
  /** True if the user may do more than watch. */
  readonly mayAct: boolean;
  readonly person: TerminalUser;
  readonly prompting: UserQuestions;
  readonly reach: DeskReach;
  readonly turns: Turns;
  readonly commands: TalkCommands;
  /** Resolves when the user leaves without waiting for a line that is on its way. */
  readonly gone: Promise<"gone">;
  /** The conversation; none before the first message. */
  session(): TalkSession | undefined;
  /** The run that the user sees, while it is live. */
  working(): string | undefined;
  /** Returns the conversation, and begins it if there is none yet. */
  open(): Promise<TalkSession>;
  /** The user is asked for nothing more. */
  stop(): void;
  /** The status line may have changed. */
  changed(): void;
}

/** Carries out the lines that a user enters: messages, slash commands and commands of the shell. */
export class EnteredLines {
  readonly #options: EnteredLinesOptions;
  readonly #person: TerminalUser;
  readonly #entered = new PendingEntry();

  constructor(options: EnteredLinesOptions) {
    this.#options = options;
    this.#person = options.person;
  }

  /** Carries out the line with which the program was started. */
  async beginWith(first: string): Promise<void> {
    this.#person.view.gap();
    if (!this.#person.terminal.live) this.#person.terminal.write(`${this.#person.prompt}${visibleProse(first)}\n`);
    await this.#take(first, () => (slashIn(first) ? this.do(first) : this.say(first)));
  }

  /** Carries out a line. A line that does not arrive stands in the prompt again. */
  async enter(line: string): Promise<void> {
    if (!this.#isRefused(line)) await this.#take(line, () => this.do(line));
  }

  /** Lets no line begin that is on its way. */
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

  /** Takes a line that is typed while the agent works; returns false for a line that waits for the agent's answer. */
  typed(message: string, later: boolean): boolean {
    if (this.#options.working() === undefined) return false;
    if (this.#isRefused(message)) return true;
    const command = commandLine(message);
    if (command === undefined) this.#person.interject(message, later);
    // Leaving a server needs no wait, as its runs continue.
    else if (runsAnytime(command, this.#options.commands.user) || (!this.#options.own && isExit(command))) {
      this.#person.terminal.live?.view.command(message);
      this.#person.inBackground(this.do(message));
    } else return false;
    return true;
  }

  /** Returns whether the user lacks the right for a line, and tells them: the server would refuse it (S28). */
  #isRefused(line: string): boolean {
    if (this.#options.mayAct || isCommand(commandLine(line) ?? "", this.#options.commands.user)) return false;
    this.#note(WATCHING);
    return true;
  }

  /** Carries out a command of the shell, a slash command or a message. */
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
    return this.#turn(directive, { at: at ?? standpoint.place.at, ...how });
  }

  /** Sends a text to the shown run. Without a run, or for a revision, the text begins a turn. */
  async say(text: string, delivery: Delivery = "steer"): Promise<void> {
    const parts = this.#person.written(text);
    const run = this.#options.working();
    const { at, revise } = this.#person.standpoint.place;
    if (revise || run === undefined) return this.#turn({ type: revise ? "retry" : "say", parts }, { at }, text);
    const about = await (await this.#options.open()).say(parts, { run, delivery, mode: this.#options.turns.mode });
    this.#person.tellAttached(about, attachableIn(text));
  }

  /** Begins a turn. `text` is what the user wrote. */
  async #turn(directive: Directive | PromptDirective, how: Omit<TalkTurnOptions, "mode">, text = ""): Promise<void> {
    if (directive.type === "stop") return this.#options.stop();
    for (const notice of (await this.#options.own?.ready()) ?? []) this.#note(notice);
    const session = await this.#options.open();
    // From here on the desk knows which turn to interrupt.
    this.#entered.signal?.throwIfAborted();
    const model = how.model ?? this.#options.turns.otherModel;
    const about = await session.turn(directive, { ...how, model, mode: this.#options.turns.mode });
    this.#person.tellAttached(about, attachableIn(text));
    this.#person.standpoint.goBack();
  }

  #note(sentence: string): void {
    this.#person.view.note(plainLine(sentence));
  }
}

/** Notice for a line that was stopped before its run began. */
const NOT_SENT = "Stopped before it began. Nothing was sent.";

/**
 * The user's last line until its run can be interrupted: files may be read, or tools started, before a run exists.
 */
class PendingEntry {
  #waiting: AbortController | undefined;

  /** Aborts when the last line must not begin a run; undefined if no line is pending. */
  get signal(): AbortSignal | undefined {
    return this.#waiting?.signal;
  }

  /** Keeps the pending line from beginning. */
  interrupt(): void {
    this.#waiting?.abort();
  }

  /** Resolves with the result of `work`, or "interrupted" if the user interrupted a beginning. Rejects like `work`. */
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
