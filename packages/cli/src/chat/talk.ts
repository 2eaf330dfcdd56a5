import {
  type Agent,
  type Chat,
  type ConversationState,
  type Directive,
  emptyConversation,
  pathTo,
  retry,
  type Session,
  say,
  type Turn,
  type UserPart,
} from "@banyan/core";
import { type Host, writtenMessage } from "@banyan/host";
import type { CommandContext } from "../commands/command.ts";
import { runCommand, runsAnytime } from "../commands/index.ts";
import { type ExitCode, exitCodes } from "../exit.ts";
import { problemOf } from "../problem.ts";
import { counted } from "../show/amounts.ts";
import { attachedLines } from "../show/attached.ts";
import { typedText } from "../show/message-label.ts";
import { oneLine, plainText, visible } from "../show/plain-text.ts";
import { turnLine } from "../show/turn-line.ts";
import type { FeedView } from "../terminal/feed-view.ts";
import type { TalkAction, Terminal } from "../terminal/terminal.ts";
import { agentAtWork } from "./agent-at-work.ts";
import { approvalSentence, nextApproval } from "./approval-mode.ts";
import { Approvals } from "./approvals.ts";
import { ChatView } from "./chat-view.ts";
import { lastExchange } from "./exchange.ts";
import { Interjections } from "./interjections.ts";
import { Outcome } from "./outcome.ts";
import { pickMessage } from "./pick-message.ts";
import { statusOf } from "./status-of.ts";
import type { TalkOptions } from "./talk-options.ts";

/** Where the next message goes. */
interface Place {
  /** The message that it goes below, or, to be revised, beside; the last one written when absent. */
  readonly at?: string;
  readonly revise?: boolean;
}

const HERE: Place = {};
const EMPTY = emptyConversation();
/** Items after which the status is another. */
const CHANGES_STATUS: ReadonlySet<string> = new Set(["run.started", "message.completed", "run.ended", "model.changed"]);

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
  #place = HERE;
  /** Stands in the prompt when it comes. */
  #draft = "";
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
  /** Whether what the agent works with was waited for. */
  #isEquipped = false;
  #handled: { readonly agent: Agent; readonly with: Agent } | undefined;
  readonly #task: TalkOptions["task"];
  readonly #output: TalkOptions["output"];
  #mode: "chat" | "task";
  readonly #outcome = new Outcome();

  constructor({ host, terminal, session, at, task, output }: TalkOptions) {
    this.#host = host;
    this.#terminal = terminal;
    this.#session = session;
    this.#task = task;
    this.#output = output;
    this.#mode = task === undefined ? "chat" : "task";
    if (at !== undefined) this.#place = { at };
    this.#view = terminal.live?.view ?? new ChatView(terminal);
    terminal.live?.follow(session?.state);
    this.#showStatus();
    this.#approvals = new Approvals(terminal, this.#view, host);
    this.#interjections = new Interjections(terminal, this.#view, (text) => this.#message(text));
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
      chat = this.#apart ?? (await this.#next());
      this.#apart = undefined;
    }
  }

  /**
   * A message that the person typed unasked: while the agent works it goes into the conversation at once, to steer what
   * it does, or, `later` or with `>` in front, to be said after its turn (B21, T18). Answers whether it was taken.
   */
  typed(message: string, later: boolean): boolean {
    const session = this.#session;
    if (!session || this.#working === undefined) return false;
    if (message.startsWith("/")) {
      if (!runsAnytime(message)) return false;
      void runCommand(message, this.#commandContext()).catch((error: unknown) => this.#tell(error));
      return true;
    }
    void this.#interjections.say(session, message, later).catch((error: unknown) => this.#tell(error));
    return true;
  }

  /** A key that is about the conversation. */
  act(action: TalkAction): void {
    switch (action) {
      case "take-back":
        if (this.#session)
          void this.#interjections.takeBack(this.#session).catch((error: unknown) => this.#tell(error));
        break;
      case "approval-mode":
        this.#host.useApproval(nextApproval(this.#host.approval));
        this.#view.note(approvalSentence(this.#host.approval));
        this.#showStatus();
        break;
      case "rewind":
        void this.#rewind().catch((error: unknown) => this.#tell(error));
        break;
      case "agents":
        void runCommand("/agents", this.#commandContext()).catch((error: unknown) => this.#tell(error));
        break;
    }
  }

  /** Goes back to an earlier message, at first the last own one (T7). */
  async #rewind(): Promise<void> {
    const own = pathTo(this.#state, this.#leaf).findLast(({ role }) => role === "user");
    const message = await this.#pickMessage(own?.id);
    if (message !== undefined) this.#goTo(message);
  }

  async #pickMessage(selected?: string): Promise<string | undefined> {
    const { live } = this.#terminal;
    const { session } = this;
    if (!live || !session) return undefined;
    const { name } = this.#host.agent;
    const tell = (error: unknown) => this.#tell(error);
    return pickMessage(live, { session, agent: name, leaf: this.#leaf, selected, tell });
  }

  /** The message that the next one goes below. */
  get #leaf(): string | null {
    return this.#place.at ?? this.#state.leaf;
  }

  #showStatus(): void {
    this.#terminal.live?.status(statusOf(this.#host, this.#state, this.#leaf, this.#mode));
  }

  /** Ctrl-C while nothing is typed: ends what runs. */
  interrupt(): void {
    const interrupted = this.#session?.interrupt() ?? 0;
    if (interrupted === 0 && this.#state.runs.size > 0) this.#view.note("Ending what still runs; it has 3 s.");
  }

  /** Ends the talk as soon as what runs has ended. The terminal must be closed too, so that nobody is asked any more. */
  leave(): void {
    this.#left = true;
    this.#closed.abort();
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
        if (item.type === "run.started" && item.call === undefined) this.#run = item.run;
        if (item.type === "call.denied") this.#outcome.denied(item, session.state);
        this.#view.show(item, session.state);
        if (CHANGES_STATUS.has(item.type)) this.#showStatus();
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
      const initial = this.#draft;
      this.#draft = "";
      const line = await this.#terminal.read({ prompt: this.#prompt, initial });
      if (line === undefined) break;
      if (line.trim() === "") continue;
      try {
        const chat = await this.#chatFor(line);
        if (chat) return chat;
      } catch (error) {
        this.#tell(error);
        if (!line.startsWith("/")) this.#draft = line;
      }
    }
    this.#left = true;
    return undefined;
  }

  async #chatFor(line: string): Promise<Chat | undefined> {
    if (!line.startsWith("/")) {
      const parts = await this.#message(line);
      return this.#chat(this.#place.revise ? retry(parts) : say(parts));
    }
    const next = await runCommand(line, this.#commandContext());
    this.#showStatus();
    if (next.type === "leave") this.#left = true;
    return next.type === "turn" ? this.#chat(next.directive, next) : undefined;
  }

  /** What a person wrote as it goes into the conversation, with what it names; what that is, is said first (B46). */
  async #message(text: string): Promise<readonly UserPart[]> {
    const message = await writtenMessage(this.#host, text, this.#closed.signal);
    for (const line of attachedLines(message)) this.#view.note(line);
    return message.parts;
  }

  async #chat(directive: Directive, options: { readonly at?: string; readonly model?: string } = {}): Promise<Chat> {
    await this.#equipped();
    const [session, agent] = [await this.#open(), await this.#agentFor(options.model)];
    const at = options.at ?? this.#place.at;
    this.#place = HERE;
    return agent.chat(directive, { session, ...(at === undefined ? {} : { at }) });
  }

  /** The conversation that the person is in, begun if there is none yet. */
  async #open(): Promise<Session> {
    this.#session ??= await this.#host.newSession();
    this.#terminal.live?.follow(this.#session.state);
    return this.#session;
  }

  /** Waits until the agent has all that it works with; what of it is missing is said once. */
  async #equipped(): Promise<void> {
    if (this.#isEquipped) return;
    const { notices } = await this.#host.ready();
    this.#isEquipped = true;
    for (const notice of notices) this.#view.note(notice);
  }

  /** The host's agent as it works now, with the prompt as its turn handler. */
  async #agentFor(model: string | undefined): Promise<Agent> {
    const agent = await agentAtWork(this.#host, { mode: this.#mode, model, output: this.#output });
    if (this.#handled?.agent !== agent) {
      this.#handled = { agent, with: agent.with({ onTurn: (_conversation, _agent, turn) => this.#handle(turn) }) };
    }
    return this.#handled.with;
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
    if (turn.reason === "finished") for (const line of plainText(turn.text).trim().split("\n")) this.#view.line(line);
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

  #tell(error: unknown): void {
    this.#view.say(`${this.#terminal.style.bad("Not done:")} ${oneLine(problemOf(error).message)}`);
  }

  #commandContext(): CommandContext {
    const { style, columns } = this.#terminal;
    return {
      host: this.#host,
      agent: this.#host.agent.name,
      style,
      columns,
      state: this.#state,
      leaf: this.#leaf,
      session: this.#session,
      run: this.#working,
      write: (...lines) => {
        for (const line of lines) this.#view.line(line);
      },
      open: () => this.#open(),
      message: (text) => this.#message(text),
      mode: this.#mode,
      useMode: (mode) => {
        this.#mode = mode;
      },
      pickMessage: this.#terminal.live && (() => this.#pickMessage()),
      goTo: (message) => this.#goTo(message),
      goBack: () => {
        this.#place = HERE;
        this.#anew = true;
        this.#draft = "";
      },
      begin: () => this.#begin(),
      modelChanged: async (model) => {
        await this.#session?.commit([{ type: "model.changed", model }]);
      },
    };
  }

  #goTo(id: string): void {
    const message = this.#state.messages.get(id);
    if (!message) return;
    const own = message.role === "user" && message.author === "user";
    this.#place = own ? { at: id, revise: true } : { at: id };
    if (own && this.#terminal.live) this.#terminal.live.insert(typedText(message));
    else if (own) this.#draft = typedText(message);
    const { style, columns } = this.#terminal;
    const leaf = own ? message.parentId : id;
    if (leaf !== null)
      for (const line of lastExchange(this.#state, leaf, this.#host.agent.name, columns, style))
        this.#terminal.write(`${line}\n`);
    this.#view.note(
      own ? "Change your message and send it; what it was stays beside it." : "Your next message goes on from here.",
    );
  }

  async #begin(): Promise<string | undefined> {
    const old = this.#session;
    this.#session = undefined;
    this.#place = HERE;
    this.#terminal.live?.follow(undefined);
    this.#showStatus();
    if (!old) return undefined;
    await old.close();
    return old.id;
  }
}
