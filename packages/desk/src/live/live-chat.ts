import { Agent, type Chat, type Directive, type FeedItem, type Session, type TurnHandler } from "@banyan/core";
import { TurnNotBegun } from "./beginnings.ts";

/** A turn that a client requests. */
export interface AskedTurn {
  readonly agent: Agent;
  readonly directive: Directive;
  /** The message to continue from. Default: the newest message of the conversation. */
  readonly at?: string | undefined;
  /** The id of the new user message, or of the run if there is no new message. */
  readonly id: string;
  /** The name of the client as tools see it (`context.client`). */
  readonly client: string;
}

/** Callbacks of a chat. */
export interface LiveChatEvents {
  waits(): void;
  over(): void;
  /** Called with an error after a turn began that could not be written to the log. */
  defect(error: unknown): void;
}

interface WaitingChat {
  readonly leaf: string | null;
  answer(next: Chat | undefined): void;
}

interface PendingStart extends PromiseWithResolvers<string> {
  readonly id: string;
}

/**
 * A chat whose turn handler waits for the user, so that the chat spans all turns of a branch (B12). After each turn the
 * agent's own handler runs first. Then the chat waits until the user sends the next message. A waiting chat keeps
 * neither a run nor a branch, so other clients can write to the branch.
 * ```
 * asked ──▶ turn ──▶ the agent's own onTurn ──▶ waits ──▶ over: its conversation is closed, or too many wait
 *            ▲             ╰──▶ another turn      │
 *            ╰──────────── goOn(asked) ◀──────────╯
 * ```
 */
export class LiveChat {
  readonly session: Session;
  readonly #events: LiveChatEvents;
  readonly #prompts = new WeakSet<TurnHandler>();
  #begun: PendingStart;
  /** Absent until the run is in the log. */
  #run: string | undefined;
  #waiting: WaitingChat | undefined;
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
   * The run of the last requested turn. Resolves when the run is in the log. Rejects if the turn cannot begin: with
   * `SessionError` (`busy`) while another turn works there (F83).
   */
  get begun(): Promise<string> {
    return this.#begun.promise;
  }

  /** The message at which the chat waits; `undefined` while the chat does not wait. */
  get leaf(): string | null | undefined {
    return this.#waiting?.leaf;
  }

  /** True if the run has ended and the chat is about to wait or continue. */
  get isEnding(): boolean {
    return this.#run !== undefined && !this.session.state.runs.has(this.#run);
  }

  /** True if the turn is running or the chat waits. */
  get isSettled(): boolean {
    return this.#waiting !== undefined || (this.#run !== undefined && this.session.state.runs.has(this.#run));
  }

  /** Resolves when the turn has begun, when it has ended with its handlers, or when the chat is over. */
  get moved(): Promise<void> {
    return this.#moved.promise;
  }

  /** Starts the next turn of the waiting chat. */
  goOn(asked: AskedTurn): Promise<string> {
    this.#begun = begunOf(asked);
    this.#answer(this.#chatOf(asked));
    return this.begun;
  }

  /** The next user message starts a new chat. */
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

  /** Adds a turn handler that waits for the user if the agent's own handler returns nothing. */
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

  async #firstOwn(
    own: TurnHandler,
    ...[conversation, self, turn]: Parameters<TurnHandler>
  ): Promise<Chat<unknown> | undefined> {
    const next = await own(conversation, self, turn);
    if (!next) return this.#prompt(conversation.leaf);
    // An agent that the handler hands over to also returns here. The trampoline rejects a value that is no chat.
    const { agent, directive, options } = next;
    return agent instanceof Agent ? this.#prompting(agent).chat(directive, options) : next;
  }

  /** The promise of the chat itself: no microtask lies between the user's message and the trampoline. */
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
    // Steering messages of the last moment, and chats that a handler returns, begin runs as well.
    if (this.#begun.id === run || this.#begun.id === leaf) this.#begun.resolve(run);
    this.#move(run);
  }

  #move(run: string | undefined): void {
    this.#run = run;
    this.#moved.resolve();
    this.#moved = Promise.withResolvers();
  }

  #over(error?: unknown): void {
    // The caller gets the error from `begun`.
    this.#begun.promise.then(
      () => {
        if (error !== undefined) this.#events.defect(error);
      },
      () => {},
    );
    this.#begun.reject(error ?? new TurnNotBegun());
    this.#move(undefined);
    // Closing a session ends only the reader: end the waiting handler as well.
    this.end();
    this.#events.over();
  }
}

function begunOf({ id }: AskedTurn): PendingStart {
  return { id, ...Promise.withResolvers<string>() };
}
