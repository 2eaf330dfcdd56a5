import type { ConversationState, Delivery, Directive, FeedItem } from "@banyan/core";
import type { RemoteServer } from "@banyan/server/client";
import { approvalSentence, nextApproval } from "../chat/approval-mode.ts";
import { Approvals, type PersonAsked } from "../chat/approvals.ts";
import type { Partner } from "../chat/at-terminal.ts";
import { Person, type PersonOptions } from "../chat/person.ts";
import { remind } from "../chat/remind.ts";
import type { ConversationContext } from "../commands/command.ts";
import { conversationCommands, runCommandOf, runsAnytime } from "../commands/index.ts";
import { gist } from "../show/message-label.ts";
import { oneLine } from "../show/plain-text.ts";
import type { TalkAction, Terminal } from "../terminal/terminal.ts";
import { remoteBranchChanges } from "./remote-branch-changes.ts";
import { remoteModels } from "./remote-models.ts";
import { RemoteSession } from "./remote-session.ts";
import { remoteStatus } from "./remote-status.ts";
import { ShownRun } from "./shown-run.ts";
import { taskResult } from "./task-result.ts";

/** With whom a person talks, and where they sit. */
export interface AttachedTalkOptions extends Pick<PersonOptions, "place" | "terminal" | "unsent"> {
  readonly server: RemoteServer;
}

/**
 * A person and an agent on a server (T43). What is said, done and decided goes to the server; what is shown is what every
 * other client is shown, whoever began it. The person sees one branch: the run that was last begun where they stand.
 */
export class AttachedTalk implements Partner {
  readonly #server: RemoteServer;
  readonly #terminal: Terminal;
  readonly #person: Person;
  readonly #approvals: Approvals;
  #session: RemoteSession | undefined;
  readonly #run = new ShownRun(() => this.#state);
  /** Wakes whoever waits for that run to end. */
  #wake: (() => void) | undefined;
  /** Takes back the prompt of a terminal that can ask one thing at a time. */
  #reading: AbortController | undefined;
  /** Questions that the person is asked, in their order. */
  #asked: Promise<void> = Promise.resolve();
  /** What the person does at the prompt. */
  #doing: Promise<unknown> = Promise.resolve();
  #left = false;
  /** Resolves when the person goes without waiting for what is on its way. */
  readonly #gone = Promise.withResolvers<"gone">();
  /** Without a connection: `warned` once the person has been told what another Ctrl-C does. */
  #connection: "up" | "lost" | "warned" = "up";
  /** What runs without asking, as it was told last. */
  #approval: string;

  constructor({ server, ...seat }: AttachedTalkOptions) {
    const { agent, workspace, settings } = server.welcome;
    this.#server = server;
    this.#terminal = seat.terminal;
    this.#approval = settings.approval;
    this.#person = new Person({
      ...seat,
      agent,
      session: () => this.#session,
      deliver: (text, delivery) => this.#say(text, delivery),
      add: async (parts) => {
        const { standpoint } = this.#person;
        standpoint.wrote(await (await this.#open()).add(parts, { at: standpoint.below, run: this.#working }));
      },
      revert: async (left) => (await this.#open()).revert(left),
    });
    // The server keeps what is allowed for good.
    const asking = { agent: { name: agent }, workspace, remember: () => {} };
    this.#approvals = new Approvals(seat.terminal, this.#person.view, asking, seat.unsent);
  }

  /** The conversation; none before the first message of a new one. */
  get session(): RemoteSession | undefined {
    return this.#session;
  }

  /** The first message begins a conversation on the server at this address. */
  beginAt(address: string): void {
    this.#person.writing.isFor(address);
    this.#showStatus();
  }

  /** Goes into a conversation, and shows where it stands. */
  async enter(conversation: string): Promise<RemoteSession> {
    const watched = await this.#server.watch(conversation);
    const session = new RemoteSession(this.#server, watched);
    this.#session = session;
    this.#person.writing.isFor(conversation);
    await this.#server.read(watched, watched.state.messages.keys());
    watched.follow({
      item: (item) => this.#show(item),
      renewed: () => this.#renewed(),
      ended: (message) => this.end(message),
    });
    this.#terminal.live?.follow(session.state);
    this.#showStatus();
    this.#lookAround();
    return session;
  }

  /** Talks until the person leaves. */
  async run(): Promise<void> {
    while (!this.#left) {
      const line = await this.#read();
      if (line === undefined) break;
      if (line.trim() === "") continue;
      this.#person.writing.send(line);
      try {
        this.#doing = this.#do(line);
        // What did not arrive is kept: it stands in the prompt when the person comes back.
        if ((await Promise.race([this.#doing, this.#gone.promise])) === "gone") return;
        this.#person.writing.arrived();
      } catch (error) {
        this.#person.tell(error);
        this.#person.writing.returned();
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
      await this.#answered();
      if (this.#left) break;
      const isWorking = this.#working !== undefined;
      if (!isWorking) this.#person.view.gap();
      this.#reading = new AbortController();
      const [{ signal }, initial] = [this.#reading, this.#person.writing.takeDraft()];
      const line = await this.#terminal.read({ prompt: isWorking ? "" : this.#person.prompt, initial, signal });
      this.#reading = undefined;
      if (line !== undefined || !signal.aborted) return line;
    }
    return undefined;
  }

  /** Resolves when nothing is asked any more: while one thing is answered, another may be asked. */
  async #answered(): Promise<void> {
    for (let asked: unknown; asked !== this.#asked; ) {
      asked = this.#asked;
      await asked;
    }
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
    if (!message.startsWith("/")) this.#person.interject(message, later);
    // Whoever leaves need not wait: what runs goes on.
    else if (runsAnytime(message, conversationCommands) || /^\/exit\s*$/i.test(message))
      this.#person.inBackground(this.#do(message));
    else return false;
    return true;
  }

  /**
   * Ends a command of the person's own, or else what runs: for everybody who is there. Without a connection nothing can be
   * ended, and what is on its way may wait for ever: the second time, the person leaves.
   */
  interrupt(): void {
    if (this.#person.ownCommands.stop()) return;
    if (this.#connection === "up") {
      if (this.#session) this.#person.inBackground(this.#session.interrupt(this.#working));
    } else if (this.#connection === "lost") {
      this.#connection = "warned";
      this.note("There is no connection. What you sent is sent when it is back; Ctrl-C again leaves, and keeps it.");
    } else this.#go();
  }

  act(action: TalkAction): void {
    switch (action) {
      case "approval-mode": {
        const mode = nextApproval(this.#server.welcome.settings.approval);
        this.#person.inBackground(this.#server.ask("approval.use", { mode }));
        break;
      }
      case "agents":
        this.#person.inBackground(this.#do("/agents"));
        break;
      default:
        this.#person.act(action);
    }
  }

  /** The person goes, whatever is on its way; what runs goes on. */
  leave(): void {
    this.#gone.resolve("gone");
    this.#stop();
  }

  /** The connection was lost, or is there again. */
  connection(state: "lost" | "back"): void {
    this.#connection = state === "lost" ? "lost" : "up";
    this.note(state === "lost" ? "The connection was lost; trying again." : "Connected again.");
  }

  /** The connection cannot be had any more, or the conversation is gone. */
  end(why: string): void {
    this.#person.view.say(oneLine(why));
    this.#go();
  }

  /** Something that can be passed over. */
  note(sentence: string): void {
    this.#person.view.note(oneLine(sentence));
  }

  /** The server's settings are others now. */
  settingsChanged(): void {
    const { approval } = this.#server.welcome.settings;
    if (approval !== this.#approval) this.note(approvalSentence(approval));
    this.#approval = approval;
    this.#showStatus();
  }

  get #state(): ConversationState {
    return this.#person.state;
  }

  get #working(): string | undefined {
    return this.#run.working;
  }

  async #do(line: string): Promise<void> {
    const { ownCommands, standpoint } = this.#person;
    if (line.startsWith("!")) return ownCommands.run(line);
    if (!line.startsWith("/")) return this.#say(line);
    const next = await runCommandOf(conversationCommands, line, this.#context());
    if (next.type === "leave") this.#stop();
    if (next.type !== "turn") return;
    if (next.directive.type === "retry" && !(await standpoint.mayRetry(next.at))) return;
    await this.#turn(next.directive, next.at ?? standpoint.place.at);
  }

  /** Says something to the run under way; where there is none, or something is revised, it begins a turn. */
  async #say(text: string, delivery: Delivery = "steer"): Promise<void> {
    const parts = [{ type: "text", text }] as const;
    const run = this.#working;
    const { at, revise } = this.#person.standpoint.place;
    if (revise || run === undefined) return this.#turn({ type: revise ? "retry" : "say", parts }, at);
    this.#person.tellAttached(await (await this.#open()).say(parts, { run, delivery }));
  }

  async #turn(directive: Directive, at: string | undefined): Promise<void> {
    if (directive.type === "stop") return this.#stop();
    this.#person.tellAttached(await (await this.#open()).turn(directive, at));
    this.#person.standpoint.goBack();
  }

  /** The conversation, begun if there is none yet. */
  async #open(): Promise<RemoteSession> {
    return this.#session ?? this.enter((await this.#server.ask("conversation.create", {})).conversation);
  }

  #show(item: FeedItem): void {
    if (item.type === "run.started") {
      const isOwn = this.#session?.isOwn(item.run, item.leaf) === true;
      this.#run.begin(item, this.#person.standpoint.place.at, isOwn);
    }
    if (item.type === "message.added" && item.role === "user" && (item.author ?? "user") === "user") this.#heard(item);
    if (this.#run.has(item) && !this.#session?.isShown(item)) this.#person.view.show(item, this.#state);
    if (item.type === "call.approval-requested" || item.type === "question.asked") this.#ask(item);
    if (item.type === "run.ended") this.#approvals.ended(this.#state);
    if (item.type === "run.ended" && this.#run.is(item.run)) {
      if (item.reason === "finished") this.#person.view.answer(taskResult(this.#state.messages.get(item.leaf ?? "")));
      this.#ended();
    }
    this.#showStatus();
  }

  /** Somebody else has said something where this person looks. */
  #heard(item: Extract<FeedItem, { type: "message.added" }>): void {
    const message = this.#state.messages.get(item.message);
    if (!message || message.call !== undefined || this.#session?.isOwn(item.message)) return;
    if (!this.#terminal.live && this.#run.isAt(message))
      this.#person.view.line(`${this.#person.prompt}${gist(message, Math.max(20, this.#terminal.columns - 20))}`);
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
    if (isWorking) this.#person.view.note("The agent is working; what you write steers it.");
    this.#approvals.opened(state);
    for (const { id: question, message, call } of state.questions.values()) this.#ask({ question, message, call });
  }

  /** Asks the person; the rules were asked by the server. */
  #ask(asked: PersonAsked): void {
    const { session } = this;
    // Who may only watch sees in the transcript that something waits.
    if (!session || !this.#server.welcome.rights.includes("act")) return;
    const ask = () => this.#approvals.ask(session, undefined, asked);
    // Where one thing is asked at a time, the prompt is taken back, and what a command asks comes first.
    if (!this.#terminal.live) this.#reading?.abort();
    this.#asked = this.#terminal.live ? ask() : this.#doing.then(ask, ask);
  }

  /** The server began anew: what ran there was interrupted. */
  #renewed(): void {
    const { session } = this;
    if (!session) return;
    this.#terminal.live?.follow(session.state);
    this.#person.inBackground(this.#server.read(session.watched, session.state.messages.keys()));
    this.#person.view.note("The server began anew; /resume goes on with what was interrupted.");
    this.#ended();
  }

  /** Nothing more is asked of the person; what they did last is carried out. */
  #stop(): void {
    this.#left = true;
    this.#person.leave();
    this.#wake?.();
  }

  #go(): void {
    this.leave();
    this.#terminal.close();
  }

  #showStatus(): void {
    this.#terminal.live?.status(remoteStatus(this.#server.welcome, this.#state, this.#working));
  }

  #context(): ConversationContext {
    return {
      ...this.#person.context,
      session: this.#session,
      run: this.#working,
      isAway: this.#connection !== "up",
      models: remoteModels(this.#server, this.#state.model ?? this.#server.welcome.settings.model, () => this.#open()),
      ...remoteBranchChanges(this.#person.standpoint, () => this.#open()),
    };
  }
}
