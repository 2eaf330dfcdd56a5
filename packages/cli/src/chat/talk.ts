import {
  type Agent,
  type Chat,
  type ConversationState,
  type Delivery,
  type Directive,
  emptyConversation,
  retry,
  type Session,
  say,
  type Turn,
  textOf,
  totalTokens,
} from "@banyan/core";
import type { Host } from "@banyan/host";
import type { CommandContext } from "../commands/command.ts";
import { runCommand, runsAnytime } from "../commands/index.ts";
import { problemOf } from "../problem.ts";
import { counted, formatSpent } from "../show/amounts.ts";
import { oneLine, visible } from "../show/plain-text.ts";
import { waitingLine } from "../show/waiting-line.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { Approvals } from "./approvals.ts";
import { ChatView } from "./chat-view.ts";
import { lastExchange } from "./exchange.ts";

/** Where the next message goes. */
interface Place {
  /** The message that it goes below, or, to be revised, beside; the last one written when absent. */
  readonly at?: string;
  readonly revise?: boolean;
}

const HERE: Place = {};
const EMPTY = emptyConversation();

/**
 * A person and an agent, turn by turn (B12). The prompt is a turn handler: after each turn it asks for the next line and
 * answers how the conversation goes on.
 */
export class Talk {
  readonly #host: Host;
  readonly #terminal: Terminal;
  readonly #view: ChatView;
  readonly #approvals: Approvals;
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
  /** The run that was seen to begin last. */
  #run: string | undefined;
  #handled: { readonly agent: Agent; readonly with: Agent } | undefined;

  /** Without a session, one is begun with the first message; with `at`, the first message goes below that one. */
  constructor(host: Host, terminal: Terminal, session: Session | undefined, at?: string) {
    this.#host = host;
    this.#terminal = terminal;
    this.#session = session;
    if (at !== undefined) this.#place = { at };
    this.#view = new ChatView(terminal);
    this.#approvals = new Approvals(terminal, this.#view, host);
  }

  /** The conversation that the person is in; none before the first message. */
  get session(): Session | undefined {
    return this.#session;
  }

  /** Talks until the person leaves. `first` is said at once. */
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
    const [, behind] = /^>\s*(.*)$/s.exec(message) ?? [];
    const text = behind ?? message;
    const delivery: Delivery = later || behind !== undefined ? "queue" : "steer";
    const parts = [{ type: "text", text }] as const;
    if (text.trim() === "") return true;
    // It is shown as waiting when it is in the log, and not before.
    void session.say(parts, { delivery }).then(
      () => this.#view.note(waitingLine({ parts, delivery, held: false }, this.#terminal.columns)),
      (error: unknown) => this.#tell(error),
    );
    return true;
  }

  /** Ctrl-C while nothing is typed: ends what runs. */
  interrupt(): void {
    const interrupted = this.#session?.interrupt() ?? 0;
    if (interrupted === 0 && this.#state.runs.size > 0) this.#view.note("Ending what still runs; it has 3 s.");
  }

  /** Ends the talk as soon as what runs has ended. The terminal must be closed too, so that nobody is asked any more. */
  leave(): void {
    this.#left = true;
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
        if (item.type === "run.started") this.#run = item.run;
        this.#view.show(item, session.state);
        if (item.type === "call.approval-requested") await this.#approvals.ask(session, chat.agent, item);
      }
    } catch (error) {
      this.#tell(error);
    }
  }

  async #begun(first: string): Promise<Chat> {
    this.#view.gap();
    this.#terminal.write(`${this.#prompt}${visible(first)}\n`);
    return this.#chat(say(first));
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
    if (!line.startsWith("/")) return this.#chat(this.#place.revise ? retry(line) : say(line));
    const next = await runCommand(line, this.#commandContext());
    if (next.type === "leave") this.#left = true;
    return next.type === "turn" ? this.#chat(next.directive, next.at) : undefined;
  }

  async #chat(directive: Directive, message?: string): Promise<Chat> {
    this.#session ??= await this.#host.newSession();
    const at = message ?? this.#place.at;
    this.#place = HERE;
    return this.#agent.chat(directive, { session: this.#session, ...(at === undefined ? {} : { at }) });
  }

  /** The host's agent, with the prompt as its turn handler. */
  get #agent(): Agent {
    const { agent } = this.#host;
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
    if (totalTokens(turn.usage) > 0) {
      const steps = turn.steps > 1 ? ` · ${counted(turn.steps, "model call")}` : "";
      this.#view.note(
        `${turn.message?.model ?? this.#host.model.name}${steps} · ${formatSpent(turn.usage, turn.cost)}`,
      );
    }
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
      style,
      columns,
      state: this.#state,
      leaf: this.#place.at ?? this.#state.leaf,
      session: this.#session,
      run: this.#working,
      write: (...lines) => {
        for (const line of lines) this.#view.line(line);
      },
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
    if (own) this.#draft = textOf(message);
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
    if (!old) return undefined;
    await old.close();
    return old.id;
  }
}
