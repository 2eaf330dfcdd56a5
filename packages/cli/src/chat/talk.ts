import {
  type Chat,
  type Directive,
  type FeedItem,
  retry,
  type Session,
  SessionError,
  say,
  type Turn,
  type UserPart,
} from "@banyan/core";
import { counted, visibleProse } from "@banyan/core/shown";
import { ApprovalError, type ApprovalMode, type Host, modeLeft, writtenMessage } from "@banyan/host";
import type { CommandContext } from "../commands/command.ts";
import { runCommand, runsAnytime } from "../commands/index.ts";
import { type ExitCode, exitCodes } from "../exit.ts";
import { attachableIn } from "../show/attachable.ts";
import { turnLine } from "../show/turn-line.ts";
import type { TalkAction, Terminal } from "../terminal/terminal.ts";
import { TalkAgent } from "./agent-at-work.ts";
import { agreesToAll, approvalSentence, nextApproval, STILL_ASKED } from "./approval-mode.ts";
import { Approvals } from "./approvals.ts";
import { BranchChanges } from "./branch-changes.ts";
import { CurrentConversation } from "./current-conversation.ts";
import { Entered, NOT_SENT } from "./entered.ts";
import { hostModels, sentHere } from "./host-models.ts";
import { Outcome } from "./outcome.ts";
import { Person } from "./person.ts";
import { isReminded } from "./remind.ts";
import { changesStatus, statusOf } from "./status-of.ts";
import type { TalkOptions } from "./talk-options.ts";

/**
 * A person and an agent, turn by turn (B12). The prompt is a turn handler: after each turn it asks for the next line and
 * answers how the conversation goes on.
 */
export class Talk {
  readonly #host: Host;
  readonly #terminal: Terminal;
  readonly #person: Person;
  readonly #conversation: CurrentConversation;
  readonly #changes: BranchChanges;
  readonly #approvals: Approvals;
  /** The turn handler at work: it asks the person. */
  #handling: Promise<unknown> | undefined;
  /** The branch that the stream is on is gone: what comes next is a stream of its own. */
  #anew = false;
  /** A chat that cannot go on in the stream of the one before: it has another session, or its branch was removed. */
  #apart: Chat | undefined;
  #left = false;
  readonly #entered = new Entered();
  /** The run that was seen to begin last. */
  #run: string | undefined;
  readonly #agent: TalkAgent;
  readonly #task: TalkOptions["task"];
  readonly #output: TalkOptions["output"];
  #mode: "chat" | "task";
  /** The mode is that of a task that was begun with, until it is finished or a person chooses one. */
  #isForTask: boolean;
  readonly #outcome = new Outcome();

  constructor({ host, terminal, unsent, session, at, task, output }: TalkOptions) {
    this.#host = host;
    this.#terminal = terminal;
    this.#task = task;
    this.#output = output;
    this.#mode = task === undefined ? "chat" : "task";
    this.#isForTask = task === "first";
    this.#person = new Person({
      terminal,
      unsent,
      agent: host.agent.name,
      prompt: host.configuration.settings.prompt,
      place: { redact: host.redact, directory: host.workspace },
      session: () => this.session,
      deliver: async (text, delivery) => {
        const [parts, conversation] = [await this.#message(text), await this.#conversation.open()];
        await conversation.say(parts, { delivery });
      },
      add: (parts) => this.#add(parts),
      revert: (left) => this.#changes.revert(left),
    });
    this.#conversation = new CurrentConversation(host, this.#person, session);
    this.#changes = new BranchChanges(host, terminal, this.#person.standpoint, () => this.#conversation.open());
    if (at !== undefined) this.#person.standpoint.standAt(at);
    this.#showStatus();
    this.#approvals = new Approvals(terminal, this.#person.view, host, unsent);
    this.#agent = new TalkAgent(
      host,
      (_conversation, _agent, turn) => this.#handle(turn),
      (notice) => this.#person.view.note(notice),
    );
  }

  /** The conversation that the person is in; none before the first message. */
  get session(): Session | undefined {
    return this.#conversation.session;
  }

  /** How the program is to exit: with how the task came out, when that was all that it was started for (T35). */
  get exit(): ExitCode {
    return this.#task === "once" ? this.#outcome.exit : exitCodes.done;
  }

  /** Talks until the person leaves, or what was to be done `once` is done. `first` is said at once. */
  async run(first?: string): Promise<void> {
    this.#approvals.opened(this.#state);
    let chat = (first === undefined ? undefined : await this.#begun(first)) ?? (await this.#next());
    while (chat) {
      await this.#follow(chat);
      // A conversation that is left ends its stream while the person is still being asked; nobody is asked twice at once.
      // What the handler threw was told with the stream.
      await this.#handling?.catch(() => {});
      if (!this.#apart) this.#person.writing.returned();
      chat = this.#apart ?? (await this.#next());
      this.#apart = undefined;
    }
  }

  /**
   * A message that the person typed unasked: while the agent works it goes into the conversation at once, to steer what
   * it does, or, `later` or with `>` in front, to be said after its turn (B21, T18). Answers whether it was taken.
   */
  typed(message: string, later: boolean): boolean {
    if (this.#working === undefined) return false;
    if (!message.startsWith("/")) this.#person.interject(message, later);
    else if (runsAnytime(message)) {
      this.#person.terminal.live?.view.command(message);
      this.#person.inBackground(runCommand(message, this.#commandContext()));
    } else return false;
    return true;
  }

  /** A key that is about the conversation. */
  act(action: TalkAction): void {
    switch (action) {
      case "approval-mode":
        this.#person.inBackground(this.#nextApproval());
        break;
      case "agents":
        this.#person.inBackground(runCommand("/agents", this.#commandContext()));
        break;
      default:
        this.#person.act(action);
    }
  }

  #showStatus(): void {
    this.#terminal.live?.status(statusOf(this.#host, this.#state, this.#person.standpoint.leaf, this.#mode));
  }

  /** Ctrl-C while nothing is typed: ends what runs. */
  interrupt(): void {
    if (this.#agent.waitNoLonger()) return;
    this.#entered.interrupt();
    const isStopping = this.#person.ownCommands.stop();
    const interrupted = this.session?.interrupt() ?? 0;
    if (interrupted > 0 || isStopping) return;
    // The session has its calls end at once (T3).
    if (this.#state.runs.size > 0) this.#person.view.note("Killing what still runs.");
  }

  /** Ends the talk as soon as what runs has ended. The terminal must be closed too, so that nobody is asked any more. */
  leave(): void {
    this.#left = true;
    this.#person.leave();
    this.#entered.interrupt();
    this.session?.interrupt();
  }

  async close(): Promise<void> {
    await this.session?.close();
  }

  get #state(): Session["state"] {
    return this.#conversation.state;
  }

  /** Shows a chat to its end. What it throws is told, and the talk goes on. */
  async #follow(chat: Chat): Promise<void> {
    const { session } = chat;
    try {
      for await (const item of chat) {
        if (item.type === "run.started" && item.call === undefined) {
          this.#run = item.run;
          this.#person.writing.arrived(session.id);
        }
        if (item.type === "call.denied") this.#outcome.denied(item, session.state);
        if (!isReminded(session, item)) this.#person.view.show(item, session.state);
        if (changesStatus(item)) this.#showStatus();
        if (item.type === "run.ended") this.#approvals.ended(session.state);
        const asked = this.#ask(chat, item);
        // What is written would stand in the middle of the question.
        if (asked && !this.#terminal.live) await asked;
      }
    } catch (error) {
      this.#person.tell(error);
      if (error instanceof SessionError && error.code === "broken" && session === this.session) {
        await this.#conversation.lose();
        this.#showStatus();
        this.#person.view.note("What you say next opens it again, as far as it was written.");
      }
    }
  }

  #ask({ session, agent }: Chat, item: FeedItem): Promise<void> | undefined {
    switch (item.type) {
      case "call.approval-requested":
      case "question.asked":
      case "run.paused":
        return this.#approvals.ask(session, agent, item.question);
      default:
        return undefined;
    }
  }

  async #begun(first: string): Promise<Chat | undefined> {
    this.#person.view.gap();
    if (!this.#terminal.live) this.#terminal.write(`${this.#person.prompt}${visibleProse(first)}\n`);
    const chat = await this.#entered.unlessInterrupted(async () => this.#chat(say(await this.#message(first))));
    if (chat !== "interrupted") return chat;
    this.#person.writing.put(first);
    this.#person.view.note(NOT_SENT);
    return undefined;
  }

  /** Asks until there is something to do; nothing when the person leaves. */
  async #next(): Promise<Chat | undefined> {
    const held = this.#state.inbox.length;
    if (held > 0)
      this.#person.view.note(`${counted(held, "message")} held back: /waiting lists, /waiting send delivers.`);
    while (!this.#left) {
      this.#person.view.gap();
      const line = await this.#terminal.read({
        prompt: this.#person.prompt,
        initial: this.#person.writing.takeDraft(),
      });
      if (line === undefined) break;
      if (line.trim() === "") continue;
      this.#person.writing.send(line);
      try {
        const chat = await this.#entered.unlessInterrupted(() => this.#chatFor(line));
        if (chat === "interrupted") {
          // Whoever leaves finds it the next time.
          if (this.#left) break;
          this.#person.writing.returned();
          this.#person.view.note(NOT_SENT);
          continue;
        }
        if (chat) return chat;
        this.#person.writing.arrived(this.#state.messages.size > 0 ? this.#state.id : undefined);
      } catch (error) {
        this.#person.tell(error);
        this.#person.writing.returned();
      }
    }
    this.#left = true;
    return undefined;
  }

  async #chatFor(line: string): Promise<Chat | undefined> {
    if (line.startsWith("!")) {
      await this.#person.ownCommands.run(line);
      return;
    }
    if (!line.startsWith("/")) {
      const parts = await this.#message(line);
      return this.#chat(this.#person.standpoint.place.revise ? retry(parts) : say(parts));
    }
    const next = await runCommand(line, this.#commandContext());
    this.#showStatus();
    if (next.type === "leave") this.#left = true;
    if (next.type !== "turn") return undefined;
    if (next.directive.type === "retry" && !(await this.#person.standpoint.mayRetry(next.at))) return undefined;
    return this.#chat(next.directive, next);
  }

  /** What a person wrote as it goes into the conversation, with what it names; what that is, is said first (B46). */
  async #message(text: string): Promise<readonly UserPart[]> {
    const stops = [this.#person.left, this.#entered.signal].filter((signal) => signal !== undefined);
    const message = await writtenMessage(this.#host, text, AbortSignal.any(stops), { outside: true });
    this.#entered.signal?.throwIfAborted();
    this.#person.tellAttached(message, attachableIn(text));
    return message.parts;
  }

  /** The agent gets it with what is said next; at once, while it works. */
  async #add(parts: readonly UserPart[]): Promise<void> {
    const { standpoint } = this.#person;
    const session = await this.#conversation.open();
    if (this.#working !== undefined) await session.say(parts);
    else standpoint.standAt(await session.add(parts, { at: standpoint.below }));
  }

  get #approval(): ApprovalMode {
    return this.#host.approvalIn(this.session?.id);
  }

  /** The one after the last is the first, also when a person does not want the last. */
  async #nextApproval(): Promise<void> {
    const next = nextApproval(this.#approval);
    if (!(await this.#useApproval(next)) && next === "all") await this.#useApproval("ask");
  }

  /** Answers whether it is taken: `all` is, once a person has said yes to it in this conversation (S27). */
  async #useApproval(mode: ApprovalMode): Promise<boolean> {
    const { view } = this.#person;
    const conversation = mode === "all" ? (await this.#conversation.open()).id : "";
    try {
      await this.#host.useApproval(mode, { conversation });
    } catch (error) {
      if (!(error instanceof ApprovalError)) throw error;
      const isAgreed = error.needsYes && (await agreesToAll(this.#terminal, (sentence) => view.note(sentence)));
      if (!isAgreed) {
        view.note(error.needsYes ? STILL_ASKED : error.message);
        return false;
      }
      await this.#host.useApproval(mode, { conversation, confirmed: true });
    }
    view.note(approvalSentence(mode));
    this.#showStatus();
    return true;
  }

  #useMode(mode: "chat" | "task"): void {
    this.#mode = mode;
    this.#isForTask = false;
    this.#showStatus();
  }

  async #chat(directive: Directive, options: { readonly at?: string; readonly model?: string } = {}): Promise<Chat> {
    const session = await this.#conversation.open();
    const { standpoint } = this.#person;
    const at = options.at ?? standpoint.place.at;
    const mode = (directive.type === "resume" && modeLeft(session, at)) || this.#mode;
    const agent = await this.#agent.at({ mode, model: options.model, output: this.#output });
    standpoint.goBack();
    return agent.chat(directive, { session, client: "banyan", ...(at === undefined ? {} : { at }) });
  }

  #handle(turn: Turn): Promise<Chat | undefined> {
    const handling = this.#onTurn(turn);
    this.#handling = handling;
    return handling;
  }

  async #onTurn(turn: Turn): Promise<Chat | undefined> {
    const { session } = this;
    await this.#person.view.shown(turn.id);
    if (!this.#terminal.live) for (const line of turnLine(turn, this.#host.model.name)) this.#person.view.note(line);
    this.#outcome.ended(turn);
    if (turn.reason === "finished") this.#person.view.answer(turn.text);
    if (this.#task === "once" && this.#mode === "task" && turn.reason !== "interrupted") {
      this.#left = true;
      return undefined;
    }
    if (this.#isForTask && turn.reason === "finished") this.#useMode("chat");
    this.#anew = false;
    const next = await this.#next();
    if (next?.session === session && !this.#anew) return next;
    this.#apart = next;
    return undefined;
  }

  /** The run under way. */
  get #working(): string | undefined {
    return this.#run !== undefined && this.#state.runs.has(this.#run) ? this.#run : undefined;
  }

  #commandContext(): CommandContext {
    const { context } = this.#person;
    return {
      ...context,
      host: this.#host,
      session: this.session,
      run: this.#working,
      models: hostModels(this.#host, this.session),
      open: () => this.#conversation.open(),
      message: (text) => this.#message(text),
      undo: (call) => this.#changes.undo(call),
      compact: (at, keep) => this.#changes.compact(at, keep),
      sentHere: () => sentHere(this.#host, this.#state, context.leaf),
      mode: this.#mode,
      useMode: (mode) => this.#useMode(mode),
      approval: this.#approval,
      useApproval: async (mode) => {
        await this.#useApproval(mode);
      },
      goBack: () => {
        context.goBack();
        this.#anew = true;
      },
      begin: () => this.#conversation.leaveFor(undefined),
      enter: async (named) => {
        const entered = await this.#conversation.enter(named);
        if (entered) this.#approvals.opened(entered.state);
      },
    };
  }
}
