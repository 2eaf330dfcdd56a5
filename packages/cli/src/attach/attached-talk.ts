import {
  type ConversationState,
  createId,
  type Directive,
  emptyConversation,
  type FeedItem,
  textOf,
} from "@banyan/core";
import type { RemoteServer } from "@banyan/server/client";
import type { Result } from "@banyan/server/protocol";
import { approvalSentence, approvalWords, nextApproval } from "../chat/approval-mode.ts";
import { Approvals, type PersonAsked } from "../chat/approvals.ts";
import type { Partner } from "../chat/at-terminal.ts";
import { ChatView } from "../chat/chat-view.ts";
import { lastExchange } from "../chat/exchange.ts";
import type { ConversationContext } from "../commands/command.ts";
import { conversationCommands, runCommandOf } from "../commands/index.ts";
import { problemOf } from "../problem.ts";
import { attachedLines } from "../show/attached.ts";
import { gist } from "../show/message-label.ts";
import { oneLine } from "../show/plain-text.ts";
import type { FeedView } from "../terminal/feed-view.ts";
import type { TalkAction, Terminal } from "../terminal/terminal.ts";
import { RemoteSession } from "./remote-session.ts";
import { ShownRun } from "./shown-run.ts";

/** Where the next message goes: below a message, or, to be revised, beside it; where it was last written when absent. */
interface Place {
  readonly at?: string;
  readonly revise?: boolean;
}

const HERE: Place = {};
const EMPTY = emptyConversation();

/**
 * A person and an agent on a server (T43). What is said, done and decided goes to the server; what is shown is what every
 * other client is shown, whoever began it. The person sees one branch: the run that was last begun where they stand.
 */
export class AttachedTalk implements Partner {
  readonly #server: RemoteServer;
  readonly #terminal: Terminal;
  readonly #view: FeedView;
  readonly #approvals: Approvals;
  #session: RemoteSession | undefined;
  #place = HERE;
  #draft = "";
  readonly #run = new ShownRun(() => this.#state);
  /** Wakes whoever waits for that run to end. */
  #wake: (() => void) | undefined;
  /** What this person has said, which needs not be shown to them. */
  readonly #own = new Set<string>();
  /** Takes back the prompt of a terminal that can ask one thing at a time. */
  #reading: AbortController | undefined;
  /** Questions that the person is asked, in their order. */
  #asked: Promise<void> = Promise.resolve();
  #left = false;

  constructor(server: RemoteServer, terminal: Terminal) {
    const { agent: name, workspace } = server.welcome;
    this.#server = server;
    this.#terminal = terminal;
    this.#view = terminal.live?.view ?? new ChatView(terminal);
    // The server keeps what is allowed for good.
    this.#approvals = new Approvals(terminal, this.#view, { agent: { name }, workspace, remember: () => {} });
  }

  /** The conversation; none before the first message of a new one. */
  get session(): RemoteSession | undefined {
    return this.#session;
  }

  /** Goes into a conversation, and shows where it stands. */
  async enter(conversation: string): Promise<void> {
    const watched = await this.#server.watch(conversation);
    const session = new RemoteSession(this.#server, watched);
    this.#session = session;
    await this.#server.read(watched, watched.state.messages.keys());
    watched.follow({
      item: (item) => this.#show(item),
      renewed: () => this.#renewed(),
      ended: (message) => this.#end(message),
    });
    this.#terminal.live?.follow(session.state);
    this.#showStatus();
    this.#lookAround();
  }

  /** Talks until the person leaves. */
  async run(): Promise<void> {
    while (!this.#left) {
      const line = await this.#read();
      if (line === undefined) break;
      if (line.trim() === "") continue;
      try {
        await this.#do(line);
      } catch (error) {
        this.#tell(error);
        if (!line.startsWith("/")) this.#draft = line;
      }
    }
    this.#left = true;
  }

  /**
   * Asks for a line; nothing when the person leaves. Where one thing is asked at a time, what else is asked comes first, and
   * no prompt is shown while the agent works, though lines are taken.
   */
  async #read(): Promise<string | undefined> {
    while (!this.#left) {
      if (this.#terminal.live) await this.#over();
      await this.#asked;
      const isWorking = this.#working !== undefined;
      if (!isWorking) this.#view.gap();
      const initial = this.#draft;
      this.#draft = "";
      this.#reading = new AbortController();
      const { signal } = this.#reading;
      const line = await this.#terminal.read({ prompt: isWorking ? "" : this.#prompt, initial, signal });
      this.#reading = undefined;
      if (line !== undefined || !signal.aborted) return line;
    }
    return undefined;
  }

  /** Resolves when the run that is shown has ended. */
  async #over(): Promise<void> {
    while (this.#working !== undefined && !this.#left)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }

  typed(message: string, later: boolean): boolean {
    const run = this.#working;
    if (run === undefined) return false;
    const [, behind] = /^>\s*(.*)$/s.exec(message) ?? [];
    const text = behind ?? message;
    const act = message.startsWith("/")
      ? this.#do(message)
      : this.#say(text, { run, delivery: later || behind !== undefined ? "queue" : "steer" });
    if (text.trim() !== "") act.catch((error: unknown) => this.#tell(error));
    return true;
  }

  interrupt(): void {
    const { session } = this;
    if (!session) return;
    const run = this.#working;
    this.#server
      .ask("run.interrupt", { conversation: session.id, ...(run === undefined ? {} : { run }) })
      .catch((error: unknown) => this.#tell(error));
  }

  act(action: TalkAction): void {
    if (action === "approval-mode") {
      const mode = nextApproval(this.#server.welcome.settings.approval);
      this.#server.ask("approval.use", { mode }).catch((error: unknown) => this.#tell(error));
    }
    if (action === "take-back") this.#takeBack().catch((error: unknown) => this.#tell(error));
  }

  /** The person goes; what runs goes on. */
  leave(): void {
    this.#left = true;
    this.#wake?.();
  }

  /** Something about the connection. */
  note(sentence: string): void {
    this.#view.note(sentence);
  }

  /** The server's settings are others now. */
  settingsChanged(): void {
    this.#view.note(approvalSentence(this.#server.welcome.settings.approval));
    this.#showStatus();
  }

  get #state(): ConversationState {
    return this.#session?.state ?? EMPTY;
  }

  get #prompt(): string {
    return `Reply to ${this.#server.welcome.agent}: `;
  }

  get #working(): string | undefined {
    return this.#run.working;
  }

  /** The message that the next one goes below. */
  get #leaf(): string | null {
    return this.#place.at ?? this.#state.leaf;
  }

  async #do(line: string): Promise<void> {
    if (!line.startsWith("/")) return this.#say(line, {});
    const next = await runCommandOf(conversationCommands, line, this.#context());
    if (next.type === "leave") this.leave();
    if (next.type === "turn") await this.#turn(next.directive, next.at ?? this.#place.at);
  }

  async #say(text: string, to: { readonly run?: string; readonly delivery?: "steer" | "queue" }): Promise<void> {
    if (text.trim() === "") return;
    const parts = [{ type: "text", text }] as const;
    const place = this.#place;
    const run = to.run ?? this.#working;
    if (place.revise || run === undefined) {
      this.#place = HERE;
      return this.#turn(place.revise ? { type: "retry", parts } : { type: "say", parts }, place.at);
    }
    const conversation = this.#mustBeIn().id;
    this.#note(await this.#server.ask("turn.say", { id: this.#ownId(), conversation, parts, ...to, run }));
    this.#terminal.live?.refresh();
  }

  async #turn(directive: Directive, at: string | undefined): Promise<void> {
    if (!this.#session) await this.enter((await this.#server.ask("conversation.create", {})).conversation);
    const { id: conversation } = this.#mustBeIn();
    const where = { conversation, ...(at === undefined ? {} : { at }) };
    switch (directive.type) {
      case "say":
        this.#note(await this.#server.ask("turn.say", { id: this.#ownId(), ...where, parts: directive.parts }));
        break;
      case "retry": {
        const parts = directive.parts ? { parts: directive.parts } : {};
        this.#note(await this.#server.ask("turn.retry", { id: this.#ownId(), ...where, ...parts }));
        break;
      }
      case "resume":
        await this.#server.ask("turn.resume", where);
        break;
      case "stop":
        this.leave();
    }
    this.#place = HERE;
  }

  /** What went along with what the person said, and what did not. */
  #note({ attached, problems, redacted }: Pick<Result<"turn.say">, "attached" | "problems" | "redacted">): void {
    for (const line of attachedLines({ attached, problems, isRedacted: redacted })) this.#view.note(line);
  }

  /** An id for something that this person says: it need not be shown to them. */
  #ownId(): string {
    const id = createId();
    this.#own.add(id);
    return id;
  }

  #mustBeIn(): RemoteSession {
    if (this.#session) return this.#session;
    throw new Error("Nothing was said yet.");
  }

  #show(item: FeedItem): void {
    if (item.type === "run.started") this.#run.begin(item, this.#place.at);
    if (item.type === "message.added" && item.role === "user" && (item.author ?? "user") === "user") this.#heard(item);
    if (this.#run.has(item)) this.#view.show(item, this.#state);
    if (item.type === "call.approval-requested" || item.type === "question.asked") this.#ask(item);
    if (item.type === "run.ended" && this.#run.is(item.run)) this.#ended();
    this.#showStatus();
  }

  /** Somebody else has said something where this person looks. */
  #heard(item: Extract<FeedItem, { type: "message.added" }>): void {
    const message = this.#state.messages.get(item.message);
    if (!message || message.call !== undefined || this.#own.delete(item.message)) return;
    if (!this.#terminal.live)
      this.#view.line(`${this.#prompt}${gist(message, Math.max(20, this.#terminal.columns - 20))}`);
  }

  /** The run that is shown has ended. Where nothing is redrawn, the prompt is shown anew behind what it said. */
  #ended(): void {
    this.#wake?.();
    if (!this.#terminal.live) this.#reading?.abort();
  }

  /** What is there already: a run that is under way, and questions that wait. */
  #lookAround(): void {
    const state = this.#state;
    const isWorking = this.#run.find();
    const { style, columns } = this.#terminal;
    if (state.messages.size > 0)
      for (const line of lastExchange(state, state.leaf, this.#server.welcome.agent, columns, style))
        this.#terminal.write(`${line}\n`);
    if (isWorking) this.#view.note("The agent is working; what you write steers it.");
    for (const { id: question, message, call } of state.questions.values()) this.#ask({ question, message, call });
  }

  /** Asks the person; the rules were asked by the server. */
  #ask(asked: PersonAsked): void {
    if (!this.#terminal.live) this.#reading?.abort();
    this.#asked = this.#approvals.ask(this.#mustBeIn(), undefined, asked);
  }

  async #takeBack(): Promise<void> {
    const { session } = this;
    const inbox = [...this.#state.inbox];
    for (const { id } of inbox) await session?.withdrawInput(id);
    const texts = inbox.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "text" ? [part.text] : [])));
    if (texts.length > 0) this.#terminal.live?.insert(texts.join("\n"));
  }

  /** The server began anew: what ran there was interrupted. */
  #renewed(): void {
    const { session } = this;
    if (!session) return;
    this.#terminal.live?.follow(session.state);
    this.#server.read(session.watched, session.state.messages.keys()).catch((error: unknown) => this.#tell(error));
    this.#view.note("The server began anew; /resume goes on with what was interrupted.");
    this.#ended();
  }

  #end(message: string): void {
    this.#view.say(message);
    this.leave();
    this.#terminal.close();
  }

  #goTo(id: string): void {
    const message = this.#state.messages.get(id);
    if (!message) return;
    const own = message.role === "user" && message.author === "user";
    this.#place = own ? { at: id, revise: true } : { at: id };
    if (own && this.#terminal.live) this.#terminal.live.insert(textOf(message));
    else if (own) this.#draft = textOf(message);
    this.#view.note(
      own ? "Change your message and send it; what it was stays beside it." : "Your next message goes on from here.",
    );
  }

  #showStatus(): void {
    const { settings } = this.#server.welcome;
    const { runs, model, usage, cost } = this.#state;
    this.#terminal.live?.status({
      mode: runs.get(this.#working ?? "")?.mode ?? "chat",
      approval: approvalWords(settings.approval),
      model: model ?? settings.model,
      tokens: usage.input + usage.output,
      cost,
    });
  }

  #tell(error: unknown): void {
    this.#view.say(`${this.#terminal.style.bad("Not done:")} ${oneLine(problemOf(error).message)}`);
  }

  #context(): ConversationContext {
    const { style, columns } = this.#terminal;
    return {
      agent: this.#server.welcome.agent,
      style,
      columns,
      state: this.#state,
      leaf: this.#leaf,
      session: this.#session,
      run: this.#working,
      write: (...lines) => {
        for (const line of lines) this.#view.line(line);
      },
      goTo: (message) => this.#goTo(message),
      goBack: () => {
        this.#place = HERE;
        this.#draft = "";
      },
    };
  }
}
