import {
  type Chat,
  type ConversationState,
  type Directive,
  emptyConversation,
  retry,
  type Session,
  say,
  type Turn,
  type UserPart,
} from "@banyan/core";
import { type Host, revertFiles, writtenMessage } from "@banyan/host";
import type { CommandContext } from "../commands/command.ts";
import { runCommand, runsAnytime } from "../commands/index.ts";
import { type ExitCode, exitCodes } from "../exit.ts";
import { problemOf } from "../problem.ts";
import { counted } from "../show/amounts.ts";
import { attachableIn } from "../show/attachable.ts";
import { attachedLines } from "../show/attached.ts";
import { oneLine, visible } from "../show/plain-text.ts";
import { turnLine } from "../show/turn-line.ts";
import type { FeedView } from "../terminal/feed-view.ts";
import { pick } from "../terminal/pick.ts";
import type { TalkAction, Terminal } from "../terminal/terminal.ts";
import { TalkAgent } from "./agent-at-work.ts";
import { approvalSentence, nextApproval } from "./approval-mode.ts";
import { Approvals } from "./approvals.ts";
import { ChatView } from "./chat-view.ts";
import { Interjections } from "./interjections.ts";
import { otherConversation } from "./other-conversation.ts";
import { Outcome } from "./outcome.ts";
import { OwnCommands } from "./own-commands.ts";
import { isReminded, remindOpened } from "./remind.ts";
import { Standpoint } from "./standpoint.ts";
import { changesStatus, statusOf } from "./status-of.ts";
import type { TalkOptions } from "./talk-options.ts";
import { viewAgents } from "./view-agents.ts";
import { Writing } from "./writing.ts";

const EMPTY = emptyConversation();

/**
 * A person and an agent, turn by turn (B12). The prompt is a turn handler: after each turn it asks for the next line and
 * answers how the conversation goes on.
 */
export class Talk {
  readonly #host: Host;
  readonly #terminal: Terminal;
  readonly #view: FeedView;
  readonly #approvals: Approvals;
  readonly #interjections: Interjections;
  #session: Session | undefined;
  readonly #standpoint: Standpoint;
  readonly #writing: Writing;
  readonly #ownCommands: OwnCommands;
  /** The turn handler at work: it asks the person. */
  #handling: Promise<unknown> | undefined;
  /** The branch that the stream is on is gone: what comes next is a stream of its own. */
  #anew = false;
  /** A chat that cannot go on in the stream of the one before: it has another session, or its branch was removed. */
  #apart: Chat | undefined;
  #left = false;
  /** Aborts when the person leaves. */
  readonly #closed = new AbortController();
  /** The run that was seen to begin last. */
  #run: string | undefined;
  readonly #agent: TalkAgent;
  readonly #task: TalkOptions["task"];
  readonly #output: TalkOptions["output"];
  #mode: "chat" | "task";
  readonly #outcome = new Outcome();

  constructor({ host, terminal, unsent, session, at, task, output }: TalkOptions) {
    this.#host = host;
    this.#terminal = terminal;
    this.#session = session;
    this.#task = task;
    this.#output = output;
    this.#mode = task === undefined ? "chat" : "task";
    this.#view = terminal.live?.view ?? new ChatView(terminal);
    this.#writing = new Writing(terminal, unsent);
    this.#writing.isFor(session?.id ?? host.workspace);
    const shown = { terminal, view: this.#view };
    this.#standpoint = new Standpoint({
      ...shown,
      writing: this.#writing,
      agent: host.agent.name,
      session: () => this.#session,
      tell: (error) => this.#tell(error),
      revert: async (files) => {
        const [{ backups }, conversation] = [await host.ready(), await this.#open()];
        return revertFiles(conversation, { workspace: host.workspace, backups }, files);
      },
    });
    if (at !== undefined) this.#standpoint.standAt(at);
    terminal.live?.follow(session?.state);
    this.#showStatus();
    this.#approvals = new Approvals(terminal, this.#view, host);
    this.#agent = new TalkAgent(
      host,
      (_conversation, _agent, turn) => this.#handle(turn),
      (notice) => this.#view.note(notice),
    );
    this.#interjections = new Interjections({
      ...shown,
      unsent,
      deliver: async (text, delivery) => {
        const [parts, conversation] = [await this.#message(text), await this.#open()];
        await conversation.say(parts, { delivery });
      },
    });
    this.#ownCommands = new OwnCommands({
      host,
      view: this.#view,
      standpoint: this.#standpoint,
      open: () => this.#open(),
      isWorking: () => this.#working !== undefined,
    });
  }

  /** The conversation that the person is in; none before the first message. */
  get session(): Session | undefined {
    return this.#session;
  }

  /** How the program is to exit: with how the task came out, when that was all that it was started for (T35). */
  get exit(): ExitCode {
    return this.#task === "once" ? this.#outcome.exit : exitCodes.done;
  }

  /** Talks until the person leaves, or what was to be done `once` is done. `first` is said at once. */
  async run(first?: string): Promise<void> {
    let chat = first === undefined ? await this.#next() : await this.#begun(first);
    while (chat) {
      await this.#follow(chat);
      // A conversation that is left ends its stream while the person is still being asked; nobody is asked twice at once.
      // What the handler threw was told with the stream.
      await this.#handling?.catch(() => {});
      if (!this.#apart) this.#writing.returned();
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
    if (message.startsWith("/")) {
      if (!runsAnytime(message)) return false;
      this.#inBackground(runCommand(message, this.#commandContext()));
    } else if (message.startsWith("!")) {
      this.#terminal.live?.view.command(message);
      this.#inBackground(this.#ownCommands.run(message));
    } else this.#inBackground(this.#interjections.say(message, later));
    return true;
  }

  /** A key that is about the conversation. */
  act(action: TalkAction): void {
    switch (action) {
      case "take-back":
        if (this.#session) this.#inBackground(this.#interjections.takeBack(this.#session));
        break;
      case "approval-mode":
        this.#host.useApproval(nextApproval(this.#host.approval));
        this.#view.note(approvalSentence(this.#host.approval));
        this.#showStatus();
        break;
      case "rewind":
        this.#inBackground(this.#standpoint.rewind());
        break;
      case "agents":
        this.#inBackground(runCommand("/agents", this.#commandContext()));
        break;
    }
  }

  #showStatus(): void {
    this.#terminal.live?.status(statusOf(this.#host, this.#state, this.#standpoint.leaf, this.#mode));
  }

  /** Ctrl-C while nothing is typed: ends what runs. */
  interrupt(): void {
    const isStopping = this.#ownCommands.stop();
    const interrupted = this.#session?.interrupt() ?? 0;
    if (interrupted > 0 || isStopping) return;
    // The session has its calls end at once (T3).
    if (this.#state.runs.size > 0) this.#view.note("Killing what still runs.");
  }

  /** Ends the talk as soon as what runs has ended. The terminal must be closed too, so that nobody is asked any more. */
  leave(): void {
    this.#left = true;
    this.#closed.abort();
    this.#ownCommands.stop();
    this.#session?.interrupt();
  }

  async close(): Promise<void> {
    await this.#session?.close();
  }

  get #state(): ConversationState {
    return this.#session?.state ?? EMPTY;
  }

  /** Shows a chat to its end. What it throws is told, and the talk goes on. */
  async #follow(chat: Chat): Promise<void> {
    const { session } = chat;
    try {
      for await (const item of chat) {
        if (item.type === "run.started" && item.call === undefined) {
          this.#run = item.run;
          this.#writing.arrived(session.id);
        }
        if (item.type === "call.denied") this.#outcome.denied(item, session.state);
        if (!isReminded(session, item)) this.#view.show(item, session.state);
        if (changesStatus(item)) this.#showStatus();
        if (item.type === "call.approval-requested" || item.type === "question.asked") {
          const asked = this.#approvals.ask(session, chat.agent, item);
          // What is written would stand in the middle of the question.
          if (!this.#terminal.live) await asked;
        }
      }
    } catch (error) {
      this.#tell(error);
    }
  }

  async #begun(first: string): Promise<Chat> {
    this.#view.gap();
    if (!this.#terminal.live) this.#terminal.write(`${this.#prompt}${visible(first)}\n`);
    return this.#chat(say(await this.#message(first)));
  }

  get #prompt(): string {
    return `Reply to ${this.#host.agent.name}: `;
  }

  /** Asks until there is something to do; nothing when the person leaves. */
  async #next(): Promise<Chat | undefined> {
    const held = this.#state.inbox.length;
    if (held > 0) this.#view.note(`${counted(held, "message")} held back: /waiting lists, /waiting send delivers.`);
    while (!this.#left) {
      this.#view.gap();
      const line = await this.#terminal.read({ prompt: this.#prompt, initial: this.#writing.takeDraft() });
      if (line === undefined) break;
      if (line.trim() === "") continue;
      this.#writing.send(line);
      try {
        const chat = await this.#chatFor(line);
        if (chat) return chat;
        this.#writing.arrived(this.#state.messages.size > 0 ? this.#state.id : undefined);
      } catch (error) {
        this.#tell(error);
        this.#writing.returned();
      }
    }
    this.#left = true;
    return undefined;
  }

  async #chatFor(line: string): Promise<Chat | undefined> {
    if (line.startsWith("!")) return void (await this.#ownCommands.run(line));
    if (!line.startsWith("/")) {
      const parts = await this.#message(line);
      return this.#chat(this.#standpoint.place.revise ? retry(parts) : say(parts));
    }
    const next = await runCommand(line, this.#commandContext());
    this.#showStatus();
    if (next.type === "leave") this.#left = true;
    if (next.type !== "turn") return undefined;
    if (next.directive.type === "retry" && !(await this.#standpoint.mayRetry(next.at))) return undefined;
    return this.#chat(next.directive, next);
  }

  /** What a person wrote as it goes into the conversation, with what it names; what that is, is said first (B46). */
  async #message(text: string): Promise<readonly UserPart[]> {
    const message = await writtenMessage(this.#host, text, this.#closed.signal);
    // A screen that is redrawn has offered it while it was written, and shows what goes along below the message.
    const [told, offered] = this.#terminal.live ? [{ ...message, attached: [] }, []] : [message, attachableIn(text)];
    for (const line of attachedLines(told, offered)) this.#view.note(line);
    return message.parts;
  }

  async #chat(directive: Directive, options: { readonly at?: string; readonly model?: string } = {}): Promise<Chat> {
    const agent = await this.#agent.at({ mode: this.#mode, model: options.model, output: this.#output });
    const session = await this.#open();
    const place = this.#standpoint.goBack();
    const at = options.at ?? place.at;
    return agent.chat(directive, { session, ...(at === undefined ? {} : { at }) });
  }

  /** The conversation that the person is in, begun if there is none yet. */
  async #open(): Promise<Session> {
    this.#session ??= await this.#host.newSession();
    this.#terminal.live?.follow(this.#session.state);
    return this.#session;
  }

  #handle(turn: Turn): Promise<Chat | undefined> {
    const handling = this.#onTurn(turn);
    this.#handling = handling;
    return handling;
  }

  async #onTurn(turn: Turn): Promise<Chat | undefined> {
    const { session } = this;
    await this.#view.shown(turn.id);
    if (!this.#terminal.live) for (const line of turnLine(turn, this.#host.model.name)) this.#view.note(line);
    this.#outcome.ended(turn);
    if (turn.reason === "finished") this.#view.answer(turn.text);
    if (this.#task === "once" && turn.reason !== "interrupted") {
      this.#left = true;
      return undefined;
    }
    if (this.#task === "first") this.#mode = "chat";
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

  /** Somebody may be asked meanwhile; what fails is told. */
  #inBackground(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#tell(error));
  }

  #tell(error: unknown): void {
    this.#view.say(`${this.#terminal.style.bad("Not done:")} ${oneLine(problemOf(error).message)}`);
  }

  #commandContext(): CommandContext {
    const { style, columns, live } = this.#terminal;
    return {
      host: this.#host,
      agent: this.#host.agent.name,
      style,
      columns,
      state: this.#state,
      leaf: this.#standpoint.leaf,
      session: this.#session,
      run: this.#working,
      write: (...lines) => {
        for (const line of lines) this.#view.line(line);
      },
      open: () => this.#open(),
      message: (text) => this.#message(text),
      tookBack: async (changes) => this.#standpoint.tellTakenBack(await this.#open(), changes),
      mode: this.#mode,
      useMode: (mode) => {
        this.#mode = mode;
      },
      keys: live?.keyTable,
      viewAgents: live && (() => viewAgents(live, this.#state)),
      pickMessage: live && (() => this.#standpoint.pick()),
      goTo: (message) => this.#standpoint.goTo(message),
      goBack: () => {
        this.#standpoint.goBack();
        this.#writing.takeDraft();
        this.#anew = true;
      },
      begin: () => this.#begin(),
      enter: (named) => this.#enter(named),
      pick: (list) => pick(this.#terminal, list, this.#closed.signal),
      modelChanged: async (model) => {
        await this.#session?.changeModel(model);
      },
    };
  }

  async #enter(named: string | undefined): Promise<void> {
    const [host, terminal] = [this.#host, this.#terminal];
    const notice = (sentence: string) => this.#view.note(sentence);
    const where = { host, terminal, named, current: this.#session?.id, signal: this.#closed.signal, notice };
    const session = await otherConversation(where);
    if (!session) return;
    await this.#begin();
    this.#session = session;
    this.#writing.isFor(session.id);
    terminal.live?.follow(session.state);
    remindOpened(terminal, session, session.state.leaf, host.agent.name);
  }

  async #begin(): Promise<string | undefined> {
    const old = this.#session;
    this.#session = undefined;
    this.#standpoint.goBack();
    this.#writing.isFor(this.#host.workspace);
    this.#terminal.live?.follow(undefined);
    this.#showStatus();
    if (!old) return undefined;
    await old.close();
    return old.id;
  }
}
