import { Agent, type Chat, type Directive, type FeedItem, type Session, type TurnHandler } from "@banyan/core";
import { TurnNotBegun } from "./beginnings.ts";

/** A turn that somebody asks for. */
export interface AskedTurn {
  readonly agent: Agent;
  readonly directive: Directive;
  /** Where it begins; where the conversation was last written to when absent. */
  readonly at?: string | undefined;
  /** Of the message that it adds, else of its run. */
  readonly id: string;
  /** What tools are told that it was begun with. */
  readonly client: string;
}

/** What a chat tells who keeps it. */
export interface LiveChatEvents {
  /** It has come to where a person says what is next. */
  waits(): void;
  /** Its stream has ended. */
  over(): void;
  /** What went wrong behind the beginning of a turn and cannot even be written to the log. */
  defect(error: unknown): void;
}

interface Waiting {
  readonly leaf: string | null;
  answer(next: Chat | undefined): void;
}

interface Begun extends PromiseWithResolvers<string> {
  readonly id: string;
}

/**
 * One branch, one stream: a chat of the library whose turn handler is the way of the prompt (B12). After each turn the
 * agent's own handler is asked, and then whoever talks with it: what they say next is what the handler returns. Between two
 * turns it has no run and no branch, only a promise: others may write where it stands, and it goes on behind them.
 *
 * ```
 * asked ──▶ turn ──▶ the agent's own onTurn ──▶ waits ──▶ over: its conversation is closed, or too many wait
 *            ▲             ╰──▶ another turn      │
 *            ╰──────────── goOn(asked) ◀──────────╯
 * ```
 */
export class LiveChat {
  readonly session: Session;
  readonly #events: LiveChatEvents;
  /** Handlers that ask here already. */
  readonly #prompts = new WeakSet<TurnHandler>();
  #begun: Begun;
  /** The run of its turn, once that is in the log. */
  #run: string | undefined;
  #waiting: Waiting | undefined;
  #moved = Promise.withResolvers<void>();

  constructor(session: Session, asked: AskedTurn, events: LiveChatEvents) {
    this.session = session;
    this.#events = events;
    this.#begun = begunOf(asked);
    this.#follow(this.#chatOf(asked)).then(
      () => this.#over(),
      (error: unknown) => this.#over(error),
    );
  }

  /**
   * The run of the turn that was asked for last, whether somebody looks or not (B64): resolves when it is in the log, rejects
   * when it cannot begin, with `SessionError` (`busy`) while another turn works at its place (F83). What goes wrong later ends the run in the log.
   */
  get begun(): Promise<string> {
    return this.#begun.promise;
  }

  /** The message behind which it waits for what a person says; `undefined` while it does not wait. */
  get leaf(): string | null | undefined {
    return this.#waiting?.leaf;
  }

  /** Whether its run has ended and it is about to wait, or to go on by itself. */
  get isEnding(): boolean {
    return this.#run !== undefined && !this.session.state.runs.has(this.#run);
  }

  /** Whether it is known what comes next: its turn is under way, or it waits for a person. */
  get isSettled(): boolean {
    return this.#waiting !== undefined || (this.#run !== undefined && this.session.state.runs.has(this.#run));
  }

  /** Resolves when its turn has begun, has ended with all that comes behind it, or the chat is over. */
  get moved(): Promise<void> {
    return this.#moved.promise;
  }

  /** What is next in the chat that waits; the trampoline asks for the branch in the next microtask. */
  goOn(asked: AskedTurn): Promise<string> {
    this.#begun = begunOf(asked);
    this.#answer(this.#chatOf(asked));
    return this.begun;
  }

  /** Nothing is next: the stream ends. Nothing is lost by that, what is said there begins another one. */
  end(): void {
    this.#answer(undefined);
  }

  #answer(next: Chat | undefined): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.answer(next);
  }

  #chatOf({ agent, directive, at, id, client }: AskedTurn): Chat {
    const options = { session: this.session, id, client, wait: false, ...(at === undefined ? {} : { at }) };
    return this.#prompting(agent).chat(directive, options);
  }

  /** The agent, whose handler asks here when its own has nothing to say. */
  #prompting(agent: Agent): Agent {
    const own = agent.options.onTurn;
    if (own && this.#prompts.has(own)) return agent;
    const onTurn: TurnHandler = (conversation, self, turn) => {
      this.#move(undefined);
      if (!own) return this.#prompt(conversation.leaf);
      return this.#firstOwn(own, conversation, self, turn);
    };
    this.#prompts.add(onTurn);
    return agent.with({ onTurn });
  }

  async #firstOwn(own: TurnHandler, ...[conversation, self, turn]: Parameters<TurnHandler>): Promise<Chat | undefined> {
    const next = await own(conversation, self, turn);
    if (!next) return this.#prompt(conversation.leaf);
    // Another agent that it hands over to comes back here as well. What is no chat the trampoline refuses.
    const { agent, directive, options } = next;
    return agent instanceof Agent ? this.#prompting(agent).chat(directive, options) : next;
  }

  /** A promise that is resolved with the chat itself: nothing lies between what is said and the trampoline. */
  #prompt(leaf: string | null): Promise<Chat | undefined> {
    const { promise, resolve } = Promise.withResolvers<Chat | undefined>();
    this.#waiting = { leaf, answer: resolve };
    this.#move(undefined);
    this.#events.waits();
    return promise;
  }

  async #follow(chat: Chat): Promise<void> {
    for await (const item of chat) if (item.type === "run.started" && item.call === undefined) this.#started(item);
  }

  #started({ run, leaf }: Extract<FeedItem, { type: "run.started" }>): void {
    // What somebody steered at the last moment, and what a handler returns, begin runs too.
    if (this.#begun.id === run || this.#begun.id === leaf) this.#begun.resolve(run);
    this.#move(run);
  }

  #move(run: string | undefined): void {
    this.#run = run;
    this.#moved.resolve();
    this.#moved = Promise.withResolvers();
  }

  #over(error?: unknown): void {
    // Whoever asked for a turn that cannot begin is told why.
    this.#begun.promise.then(
      () => {
        if (error !== undefined) this.#events.defect(error);
      },
      () => {},
    );
    this.#begun.reject(error ?? new TurnNotBegun());
    this.#move(undefined);
    // A session that was closed ends the reader alone: its handler is let go as well.
    this.end();
    this.#events.over();
  }
}

function begunOf({ id }: AskedTurn): Begun {
  return { id, ...Promise.withResolvers<string>() };
}
