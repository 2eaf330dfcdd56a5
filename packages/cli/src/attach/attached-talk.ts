import type { Delivery, Directive } from "@banyan/core";
import type { ApprovalMode } from "@banyan/host";
import type { Client, ConnectionState, Watched } from "@banyan/protocol/client";
import { agreesToAll, approvalAt, approvalSentence, nextApproval, STILL_ASKED } from "../chat/approval-mode.ts";
import type { Partner } from "../chat/at-terminal.ts";
import { Entered, NOT_SENT } from "../chat/entered.ts";
import { saidBefore } from "../chat/exchange.ts";
import { Person, type PersonOptions } from "../chat/person.ts";
import { changesStatus } from "../chat/status-of.ts";
import type { ConversationContext } from "../commands/command.ts";
import { conversationCommands, isCommand, runCommandOf, runsAnytime, watchingCommands } from "../commands/index.ts";
import { oneLine } from "../show/plain-text.ts";
import type { TalkAction, Terminal } from "../terminal/terminal.ts";
import { Prompting } from "./prompting.ts";
import { remoteBranchChanges } from "./remote-branch-changes.ts";
import { remoteContext } from "./remote-context.ts";
import { remoteModels } from "./remote-models.ts";
import { RemoteSession } from "./remote-session.ts";
import { remoteStatus } from "./remote-status.ts";
import { ShownFeed } from "./shown-feed.ts";

/** What a guest is told who tries to do something. */
const WATCHING =
  "You are watching: with this token you can look at everything here, and do nothing. /help lists what there is.";

/** With whom a person talks, and where they sit. */
export interface AttachedTalkOptions extends Pick<PersonOptions, "place" | "prompt" | "terminal" | "unsent"> {
  readonly server: Client;
}

/**
 * A person and an agent on a server (T43). What is said, done and decided goes to the server; what is shown is what every
 * other client is shown, whoever began it. The person sees one branch: the run that was last begun where they stand.
 */
export class AttachedTalk implements Partner {
  readonly #server: Client;
  readonly #terminal: Terminal;
  readonly #person: Person;
  readonly #prompting: Prompting;
  readonly #entered = new Entered();
  readonly #feed: ShownFeed;
  #session: RemoteSession | undefined;
  /** How the turns to come are taken. */
  #mode: "chat" | "task" = "chat";
  /** Resolves when the person goes without waiting for what is on its way. */
  readonly #gone = Promise.withResolvers<"gone">();
  /** Without a connection: `warned` once the person has been told what another Ctrl-C does. */
  #connection: "up" | "lost" | "warned" = "up";
  /** What runs without asking, as it was told last. */
  #approval: string;

  constructor({ server, ...seat }: AttachedTalkOptions) {
    const { agent, settings } = server.welcome;
    this.#server = server;
    this.#terminal = seat.terminal;
    this.#approval = settings.approval;
    this.#person = new Person({
      ...seat,
      agent,
      isWatching: !this.#mayAct,
      session: () => this.#session,
      deliver: (text, delivery) => this.#say(text, delivery),
      add: async (parts) => {
        const { standpoint } = this.#person;
        standpoint.wrote(await (await this.#open()).add(parts, { at: standpoint.below, run: this.#working }));
      },
      revert: async (left) => (await this.#open()).revert(left),
    });
    this.#prompting = new Prompting({
      terminal: seat.terminal,
      isWorking: () => this.#working !== undefined,
      prompted: (isWorking) => {
        if (!isWorking) this.#person.view.gap();
        return { prompt: isWorking ? "" : this.#person.prompt, initial: this.#person.writing.takeDraft() };
      },
    });
    const [person, prompting, { unsent }] = [this.#person, this.#prompting, seat];
    this.#feed = new ShownFeed({ server, person, prompting, unsent, session: () => this.#session });
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
    const watched = await this.#watched(conversation);
    const session = new RemoteSession(this.#server, watched);
    this.#session = session;
    this.#approval = this.#approvalHere();
    this.#person.writing.isFor(conversation);
    await session.read();
    watched.follow({
      item: (item) => {
        this.#feed.show(item);
        if (changesStatus(item)) this.#showStatus();
      },
      renewed: () => this.#renewed(),
      stands: (standing) => {
        if (standing !== "live") this.end(watched.problem?.message ?? "The conversation is gone.");
      },
    });
    this.#terminal.live?.follow(session.state);
    this.#terminal.live?.configure({ history: saidBefore(session.state, session.state.leaf) });
    this.#showStatus();
    this.#feed.lookAround();
    return session;
  }

  /** Talks until the person leaves. */
  async run(): Promise<void> {
    while (!this.#prompting.isOver) {
      const line = await this.#prompting.read();
      if (line === undefined) break;
      if (line.trim() === "") continue;
      if (this.#isRefused(line)) continue;
      this.#person.writing.send(line);
      try {
        const doing = this.#prompting.doing(this.#entered.unlessInterrupted(() => this.#do(line)));
        // What did not arrive is kept: it stands in the prompt when the person comes back.
        const came = await Promise.race([doing, this.#gone.promise]);
        if (came === "gone") return;
        if (came === "interrupted") {
          this.#person.writing.returned();
          this.note(NOT_SENT);
        } else this.#person.writing.arrived();
      } catch (error) {
        this.#person.tell(error);
        this.#person.writing.returned();
      }
    }
    this.#prompting.end();
  }

  typed(message: string, later: boolean): boolean {
    if (this.#working === undefined) return false;
    if (this.#isRefused(message)) return true;
    if (!message.startsWith("/")) this.#person.interject(message, later);
    // Whoever leaves need not wait: what runs goes on.
    else if (runsAnytime(message, conversationCommands) || isExit(message)) {
      this.#person.terminal.live?.view.command(message);
      this.#person.inBackground(this.#do(message));
    } else return false;
    return true;
  }

  /**
   * Ends a command of the person's own, or the wait for MCP servers, or else what runs: for everybody who is there. Without
   * a connection nothing can be ended, and what is on its way may wait for ever: the second time, the person leaves.
   */
  interrupt(): void {
    if (this.#person.ownCommands.stop()) return;
    if (!this.#mayAct) return this.#connection === "up" ? this.note(WATCHING) : this.#go();
    if (this.#connection === "up" && this.#session && this.#feed.takeWait()) {
      this.#person.inBackground(this.#session.hasten());
    } else if (this.#connection === "up") {
      this.#entered.interrupt();
      if (this.#session) this.#person.inBackground(this.#session.interrupt(this.#working));
    } else if (this.#connection === "lost") {
      this.#connection = "warned";
      this.note("There is no connection. What you sent is sent when it is back; Ctrl-C again leaves, and keeps it.");
    } else this.#go();
  }

  act(action: TalkAction): void {
    if (!this.#mayAct && action !== "agents") return this.note(WATCHING);
    switch (action) {
      case "approval-mode":
        this.#person.inBackground(this.#nextApproval());
        break;
      case "agents":
        this.#person.inBackground(this.#do("/agents"));
        break;
      case "rewind":
        this.#person.inBackground(this.#rewind());
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

  /** It stands otherwise with the server. */
  connection(state: ConnectionState): void {
    const wasUp = this.#connection === "up";
    switch (state.phase) {
      case "gone":
        return this.end(state.error.message);
      case "lost":
        if (!wasUp) return;
        this.#connection = "lost";
        this.#terminal.live?.view.connected(false, this.#person.state);
        return this.note("The connection was lost; trying again.");
      case "open":
        this.#connection = "up";
        if (!wasUp) {
          this.#terminal.live?.view.connected(true, this.#person.state);
          this.note("Connected again.");
        }
        this.#settingsChanged();
    }
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

  /** The server's settings may be others now. */
  #settingsChanged(): void {
    const approval = this.#approvalHere();
    if (approval !== this.#approval) this.note(approvalSentence(approval));
    this.#approval = approval;
    this.#showStatus();
  }

  get #mayAct(): boolean {
    return this.#server.welcome.rights.includes("act");
  }

  /** Whether a line is more than this person may do, which is said: the server would refuse it (S28). */
  #isRefused(line: string): boolean {
    if (this.#mayAct || (line.startsWith("/") && isCommand(line, watchingCommands))) return false;
    this.note(WATCHING);
    return true;
  }

  get #working(): string | undefined {
    return this.#feed.working;
  }

  async #do(line: string): Promise<void> {
    const { ownCommands, standpoint } = this.#person;
    if (line.startsWith("!")) return ownCommands.run(line);
    if (!line.startsWith("/")) return this.#say(line);
    // What a message says may be on its way still, where the server began anew; who leaves does not wait for that.
    if (!isExit(line)) await this.#session?.read();
    const next = await runCommandOf(this.#mayAct ? conversationCommands : watchingCommands, line, this.#context());
    this.#showStatus();
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
    this.#person.tellAttached(await (await this.#open()).say(parts, { run, delivery, mode: this.#mode }));
  }

  async #turn(directive: Directive, at: string | undefined): Promise<void> {
    if (directive.type === "stop") return this.#stop();
    const session = await this.#open();
    // From here on the server knows what to interrupt.
    this.#entered.signal?.throwIfAborted();
    this.#person.tellAttached(await session.turn(directive, { at, mode: this.#mode }));
    this.#person.standpoint.goBack();
  }

  /** The conversation, begun if there is none yet. */
  async #open(): Promise<RemoteSession> {
    return this.#session ?? this.enter((await this.#server.ask("conversation.create", {})).conversation);
  }

  /** What cannot be watched is not asked for again when the connection is lost. */
  async #watched(conversation: string): Promise<Watched> {
    const watched = this.#server.watch(conversation);
    try {
      return await watched.loaded;
    } catch (error) {
      this.#person.inBackground(this.#server.leave(watched));
      throw error;
    }
  }

  /** The server began anew: what ran there was interrupted. */
  #renewed(): void {
    const { session } = this;
    if (!session) return;
    this.#terminal.live?.follow(session.state);
    this.#showStatus();
    this.#person.inBackground(session.read());
    this.#person.view.note("The server began anew; /resume goes on with what was interrupted.");
    this.#prompting.rested();
  }

  async #rewind(): Promise<void> {
    await this.#session?.read();
    await this.#person.standpoint.rewind();
  }

  /** Everybody at the server is told by it, this person too. */
  async #useApproval(mode: ApprovalMode): Promise<boolean> {
    if (mode !== "all") {
      await this.#server.ask("approval.use", { mode });
      return true;
    }
    const conversation = (await this.#open()).id;
    if (!(await agreesToAll(this.#terminal, (sentence) => this.note(sentence)))) {
      this.note(STILL_ASKED);
      return false;
    }
    await this.#server.ask("approval.use", { mode, conversation, confirmed: true });
    return true;
  }

  /** The one after the last is the first, also when a person does not want the last, or the server refuses it. */
  async #nextApproval(): Promise<void> {
    const next = nextApproval(this.#approvalHere());
    if (next !== "all") {
      await this.#useApproval(next);
      return;
    }
    let isTaken = false;
    try {
      isTaken = await this.#useApproval(next);
    } finally {
      if (!isTaken) await this.#useApproval("ask");
    }
  }

  /** What runs without asking where the person is. */
  #approvalHere(): ApprovalMode {
    const { settings } = this.#server.welcome;
    return approvalAt(settings, this.#session?.id);
  }

  /** Nothing more is asked of the person; what they did last is carried out. */
  #stop(): void {
    this.#prompting.end();
    this.#person.leave();
  }

  #go(): void {
    this.leave();
    this.#terminal.close();
  }

  #showStatus(): void {
    this.#terminal.live?.status(
      remoteStatus(this.#server.welcome, this.#person.state, {
        run: this.#working,
        leaf: this.#person.standpoint.leaf,
        mode: this.#mode,
      }),
    );
  }

  #context(): ConversationContext {
    const [{ context }, server, open] = [this.#person, this.#server, () => this.#open()];
    const model = context.state.model ?? server.welcome.settings.model;
    return {
      ...context,
      session: this.#session,
      run: this.#working,
      isAway: this.#connection !== "up",
      models: remoteModels(server, model, open),
      sentHere: async () => remoteContext(server, { conversation: (await open()).id, leaf: context.leaf, model }),
      mode: this.#mode,
      useMode: (mode) => {
        this.#mode = mode;
      },
      approval: this.#approvalHere(),
      useApproval: async (mode) => {
        await this.#useApproval(mode);
      },
      ...remoteBranchChanges(this.#person.standpoint, open),
    };
  }
}

function isExit(line: string): boolean {
  return /^\/exit\s*$/i.test(line);
}
