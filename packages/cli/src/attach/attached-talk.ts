import {
  type ConversationState,
  createId,
  type Delivery,
  type Directive,
  emptyConversation,
  type FeedItem,
} from "@banyan/core";
import type { RemoteServer } from "@banyan/server/client";
import type { Result } from "@banyan/server/protocol";
import { approvalSentence, approvalWords, nextApproval } from "../chat/approval-mode.ts";
import { Approvals, type PersonAsked } from "../chat/approvals.ts";
import type { Partner } from "../chat/at-terminal.ts";
import { ChatView } from "../chat/chat-view.ts";
import { Interjections } from "../chat/interjections.ts";
import { remind } from "../chat/remind.ts";
import { Standpoint } from "../chat/standpoint.ts";
import type { Unsent } from "../chat/unsent.ts";
import { viewAgents } from "../chat/view-agents.ts";
import { Writing } from "../chat/writing.ts";
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

const EMPTY = emptyConversation();
const NO_COMMANDS =
  "Commands of your own run where the agent is, not here. To send this to the model, begin it with a blank.";

/**
 * A person and an agent on a server (T43). What is said, done and decided goes to the server; what is shown is what every
 * other client is shown, whoever began it. The person sees one branch: the run that was last begun where they stand.
 */
export class AttachedTalk implements Partner {
  readonly #server: RemoteServer;
  readonly #terminal: Terminal;
  readonly #view: FeedView;
  readonly #approvals: Approvals;
  readonly #writing: Writing;
  readonly #standpoint: Standpoint;
  readonly #interjections: Interjections;
  #session: RemoteSession | undefined;
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

  constructor(server: RemoteServer, terminal: Terminal, unsent: Unsent) {
    const { agent: name, workspace } = server.welcome;
    this.#server = server;
    this.#terminal = terminal;
    this.#view = terminal.live?.view ?? new ChatView(terminal);
    // The server keeps what is allowed for good.
    this.#approvals = new Approvals(terminal, this.#view, { agent: { name }, workspace, remember: () => {} });
    this.#writing = new Writing(terminal, unsent);
    const shown = { terminal, view: this.#view };
    this.#standpoint = new Standpoint({
      ...shown,
      writing: this.#writing,
      agent: name,
      session: () => this.#session,
      tell: (error) => this.#tell(error),
    });
    this.#interjections = new Interjections({
      ...shown,
      unsent,
      deliver: (text, delivery) => this.#say(text, { delivery }),
    });
  }

  /** The conversation; none before the first message of a new one. */
  get session(): RemoteSession | undefined {
    return this.#session;
  }

  /** The first message begins a conversation on the server at this address. */
  beginAt(address: string): void {
    this.#writing.isFor(address);
  }

  /** Goes into a conversation, and shows where it stands. */
  async enter(conversation: string): Promise<void> {
    const watched = await this.#server.watch(conversation);
    const session = new RemoteSession(this.#server, watched);
    this.#session = session;
    this.#writing.isFor(conversation);
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
      this.#writing.send(line);
      try {
        await this.#do(line);
        this.#writing.arrived();
      } catch (error) {
        this.#tell(error);
        this.#writing.returned();
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
      this.#reading = new AbortController();
      const [{ signal }, initial] = [this.#reading, this.#writing.takeDraft()];
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
    if (this.#working === undefined) return false;
    this.#inBackground(/^[/!]/.test(message) ? this.#do(message) : this.#interjections.say(message, later));
    return true;
  }

  interrupt(): void {
    const { session } = this;
    if (!session) return;
    const run = this.#working;
    const which = { conversation: session.id, ...(run === undefined ? {} : { run }) };
    this.#inBackground(this.#server.ask("run.interrupt", which));
  }

  act(action: TalkAction): void {
    if (action === "approval-mode") {
      const mode = nextApproval(this.#server.welcome.settings.approval);
      this.#inBackground(this.#server.ask("approval.use", { mode }));
    }
    if (action === "rewind") this.#inBackground(this.#standpoint.rewind());
    if (action === "agents") this.#inBackground(this.#do("/agents"));
    if (action === "take-back" && this.#session) this.#inBackground(this.#interjections.takeBack(this.#session));
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

  async #do(line: string): Promise<void> {
    if (line.startsWith("!")) return this.#view.note(NO_COMMANDS);
    if (!line.startsWith("/")) return this.#say(line);
    const next = await runCommandOf(conversationCommands, line, this.#context());
    if (next.type === "leave") this.leave();
    if (next.type !== "turn") return;
    if (next.directive.type === "retry" && !(await this.#standpoint.mayRetry(next.at))) return;
    await this.#turn(next.directive, next.at ?? this.#standpoint.place.at);
  }

  /** Says something to the run under way; where there is none, or something is revised, it begins a turn. */
  async #say(text: string, to: { readonly delivery?: Delivery } = {}): Promise<void> {
    const parts = [{ type: "text", text }] as const;
    const run = this.#working;
    const { at, revise } = this.#standpoint.place;
    if (revise || run === undefined) return this.#turn({ type: revise ? "retry" : "say", parts }, at);
    const conversation = this.#mustBeIn().id;
    this.#note(await this.#server.ask("turn.say", { id: this.#ownId(), conversation, parts, ...to, run }));
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
    this.#standpoint.goBack();
  }

  /** What went along with what the person said, and what did not. */
  #note({ attached, problems, redacted }: Pick<Result<"turn.say">, "attached" | "problems" | "redacted">): void {
    const told = { attached: this.#terminal.live ? [] : attached, problems, isRedacted: redacted };
    for (const line of attachedLines(told)) this.#view.note(line);
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
    if (item.type === "run.started") this.#run.begin(item, this.#standpoint.place.at);
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
    if (!this.#terminal.live && this.#run.isAt(message))
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
    if (state.messages.size > 0) remind(this.#terminal, state, state.leaf, this.#server.welcome.agent);
    if (isWorking) this.#view.note("The agent is working; what you write steers it.");
    for (const { id: question, message, call } of state.questions.values()) this.#ask({ question, message, call });
  }

  /** Asks the person; the rules were asked by the server. */
  #ask(asked: PersonAsked): void {
    if (!this.#terminal.live) this.#reading?.abort();
    this.#asked = this.#approvals.ask(this.#mustBeIn(), undefined, asked);
  }

  /** The server began anew: what ran there was interrupted. */
  #renewed(): void {
    const { session } = this;
    if (!session) return;
    this.#terminal.live?.follow(session.state);
    this.#inBackground(this.#server.read(session.watched, session.state.messages.keys()));
    this.#view.note("The server began anew; /resume goes on with what was interrupted.");
    this.#ended();
  }

  #end(message: string): void {
    this.#view.say(message);
    this.leave();
    this.#terminal.close();
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

  #inBackground(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#tell(error));
  }

  #tell(error: unknown): void {
    this.#view.say(`${this.#terminal.style.bad("Not done:")} ${oneLine(problemOf(error).message)}`);
  }

  #context(): ConversationContext {
    const { style, columns, live } = this.#terminal;
    return {
      agent: this.#server.welcome.agent,
      style,
      columns,
      state: this.#state,
      leaf: this.#standpoint.leaf,
      session: this.#session,
      run: this.#working,
      keys: live?.keyTable,
      viewAgents: live && (() => viewAgents(live, this.#state)),
      write: (...lines) => {
        for (const line of lines) this.#view.line(line);
      },
      pickMessage: this.#terminal.live && (() => this.#standpoint.pick()),
      goTo: (message) => this.#standpoint.goTo(message),
      goBack: () => {
        this.#standpoint.goBack();
        this.#writing.takeDraft();
      },
    };
  }
}
