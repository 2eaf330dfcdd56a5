import { createId } from "@banyan/core/conversation";
import type { Command, CommandName, Result, ServerFrame, ServerSettings, Welcome } from "@banyan/protocol";
import type { Link, OpenLink } from "./link.ts";
import { ClientError } from "./link.ts";
import { Mirror } from "./mirror.ts";
import { SharedTree } from "./tree.ts";
import { WatchedConversation } from "./watched-conversation.ts";

/** Milliseconds after which a client repeats a command that a stopping server refused. */
const AGAIN = 1_000;

/** The fields of a command except its type and its id. See {@link Client}. */
export type CommandValues<Name extends CommandName> = Omit<Command<Name>, "type" | "id">;

/**
 * The state of the connection. `since` and `next` (the next attempt) are milliseconds since 1970. See {@link Client}.
 */
export type ConnectionState =
  | { readonly phase: "connecting" }
  | { readonly phase: "open"; readonly welcome: Welcome }
  | { readonly phase: "lost"; readonly since: number; readonly next: number }
  | { readonly phase: "gone"; readonly error: ClientError };

/** Callbacks of a client. See {@link Client}. */
export interface ClientEvents {
  /** The state of the connection or the settings of the server have changed. */
  changed?(state: ConnectionState): void;
  /** Gets each other frame of the server, such as a change in the list of conversations. */
  frame?(frame: ServerFrame): void;
}

interface PendingCommand {
  readonly command: Command;
  readonly answer: PromiseWithResolvers<Result>;
  /** True once sent: the server may have acted on the command. */
  isSent: boolean;
}

/**
 * A program's client of a server. It sends commands over a link and watches conversations. After a lost connection, it
 * continues each conversation from its cursor. It also repeats all unanswered commands, and commands that a stopping
 * server refused. The ids of the commands ensure that each command takes effect only once.
 * @example
 * const client = new Client(nodeLink({ address: "http://127.0.0.1:4870", token, client: "garden 1.0" }));
 * await client.connected(signal);
 */
export class Client {
  readonly #events: ClientEvents;
  readonly #link: Link;
  readonly #asked = new Map<string, PendingCommand>();
  readonly #watched = new Map<string, WatchedConversation>();
  /** Pending subscriptions of this connection. The key is the id of the command. */
  readonly #subscribing = new Map<string, WatchedConversation>();
  readonly #connected = Promise.withResolvers<void>();
  #state: ConnectionState = { phase: "connecting" };
  #welcome: Welcome | undefined;
  #connection = 0;

  constructor(open: OpenLink, events: ClientEvents = {}) {
    this.#events = events;
    // Nothing may wait for this promise.
    this.#connected.promise.catch(() => {});
    this.#link = open({
      up: (welcome) => this.#up(welcome),
      frame: (frame, cause) => this.#take(frame, { cause }),
      shared: (conversation) => this.#watched.get(conversation.id)?.begin(new SharedTree(conversation)),
      down: (next) => this.#become({ phase: "lost", since: this.#lostSince, next }),
      gone: (error) => this.#end(error),
    });
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** The last welcome of the server. Throws `ClientError` before the first welcome. */
  get welcome(): Welcome {
    if (!this.#welcome) throw new ClientError("closed", "This client is not connected yet.");
    return this.#welcome;
  }

  /** Resolves after the first connection. An abort before that closes the client. Rejects with `ClientError`. */
  async connected(signal?: AbortSignal): Promise<void> {
    const onAbort = () => this.close();
    if (signal?.aborted) onAbort();
    signal?.addEventListener("abort", onAbort);
    return this.#connected.promise.finally(() => signal?.removeEventListener("abort", onAbort));
  }

  /**
   * Sends a command, now or after the next connection. Resolves with the answer, even if the connection is lost
   * meanwhile. A command with an explicit `id` acts once, even if sent again. Rejects with `ClientError`.
   */
  ask<Name extends CommandName>(
    type: Name,
    input: CommandValues<Name>,
    id: string = createId(),
  ): Promise<Result<Name>> {
    if (this.#state.phase === "gone") return Promise.reject(this.#state.error);
    const command = { ...input, type, id } as unknown as Command;
    const pending: PendingCommand = { command, answer: Promise.withResolvers<Result>(), isSent: false };
    this.#asked.set(id, pending);
    if (this.#state.phase === "open") this.#send(pending);
    return pending.answer.promise as Promise<Result<Name>>;
  }

  /** Cancels a command that was not sent: its promise rejects. Returns true if it was cancelled. */
  cancel(id: string): boolean {
    const pending = this.#asked.get(id);
    if (!pending || pending.isSent) return false;
    this.#asked.delete(id);
    pending.answer.reject(new ClientError("cancelled", "You cancelled the command before it was sent."));
    return true;
  }

  isSent(id: string): boolean {
    return this.#asked.get(id)?.isSent ?? true;
  }

  /** Watches a conversation from the next connection until `leave`. Returns the same object for the same id. */
  watch(conversation: string, leaf?: string): WatchedConversation {
    const known = this.#watched.get(conversation);
    if (known?.standing === "loading" || known?.standing === "live") return known;
    const watched =
      known ??
      new WatchedConversation(conversation, leaf, async (messages) => {
        const read = await this.ask("message.read", { conversation, messages });
        return read.messages;
      });
    this.#watched.set(conversation, watched);
    if (this.#state.phase === "gone") watched.stand("missing", this.#state.error);
    else watched.stand("loading");
    if (this.#state.phase === "open") this.#subscribe(watched);
    return watched;
  }

  /** Stops watching a conversation. Resolves when the server has confirmed. Rejects with `ClientError`. */
  async leave({ id: conversation }: WatchedConversation): Promise<void> {
    this.#watched.delete(conversation);
    // Without a connection there is no subscription to end.
    if (this.#state.phase === "open") await this.ask("feed.unsubscribe", { conversation });
  }

  /** While the connection is lost: tries again now. */
  retry(): void {
    this.#link.retry();
  }

  /** Closes the connection. Unanswered commands reject. */
  close(): void {
    this.#link.close();
    this.#end(new ClientError("closed", "The connection was closed."));
  }

  get #lostSince(): number {
    return this.#state.phase === "lost" ? this.#state.since : Date.now();
  }

  #up(welcome: Welcome): void {
    this.#connection++;
    this.#welcome = welcome;
    // Pending subscriptions of the last connection get no answer on this connection.
    this.#subscribing.clear();
    this.#state = { phase: "open", welcome };
    // Missing conversations may exist now.
    for (const watched of this.#watched.values()) if (watched.standing !== "removed") this.#subscribe(watched);
    for (const pending of this.#asked.values()) this.#send(pending);
    this.#connected.resolve();
    this.#events.changed?.(this.#state);
  }

  #subscribe(watched: WatchedConversation): void {
    const { id: conversation, leaf, tree } = watched;
    const id = createId();
    this.#subscribing.set(id, watched);
    const from = tree?.cursor && { from: tree.cursor };
    this.#link.send({ type: "feed.subscribe", id, conversation, ...from, ...(leaf !== undefined && { leaf }) });
  }

  #send(pending: PendingCommand): void {
    pending.isSent = true;
    this.#link.send(pending.command);
  }

  #take(frame: ServerFrame, why: ErrorOptions): void {
    switch (frame.type) {
      case "done":
        return this.#done(frame.id, frame.result as Result);
      case "failed":
        return this.#failed(frame.id, new ClientError(frame.error.code, frame.error.message, why));
      case "snapshot":
        return this.#watched.get(frame.conversation)?.begin(new Mirror(frame));
      case "feed":
        return this.#watched.get(frame.conversation)?.take(frame.items);
      case "ended":
        return this.#ended(frame.conversation, frame.reason, new ClientError(frame.reason, frame.message, why));
      case "settings":
        return this.#changeSettings(frame.settings);
      default:
        this.#events.frame?.(frame);
    }
  }

  #done(id: string, result: Result): void {
    // A feed that continues sends no snapshot.
    const subscribed = this.#subscribing.get(id);
    if (subscribed?.tree) subscribed.stand("live");
    this.#subscribing.delete(id);
    const pending = this.#asked.get(id);
    this.#asked.delete(id);
    if (pending?.command.type === "message.read")
      this.#watched.get(pending.command.conversation)?.fill((result as Result<"message.read">).messages);
    pending?.answer.resolve(result);
  }

  #failed(id: string, error: ClientError): void {
    if (error.code === "stopping") return this.#askAgain(id);
    this.#asked.get(id)?.answer.reject(error);
    this.#asked.delete(id);
    const watched = this.#subscribing.get(id);
    this.#subscribing.delete(id);
    if (watched) this.#ended(watched.id, error.code === "not-found" ? "removed" : "missing", error);
  }

  /** Repeats a command that a stopping server refused: over the next connection, or soon if this one stays. */
  #askAgain(id: string): void {
    const [pending, watched, connection] = [this.#asked.get(id), this.#subscribing.get(id), this.#connection];
    this.#subscribing.delete(id);
    setTimeout(() => {
      if (this.#state.phase !== "open" || this.#connection !== connection) return;
      if (pending && this.#asked.has(id)) this.#send(pending);
      if (watched && this.#watched.get(watched.id) === watched) this.#subscribe(watched);
    }, AGAIN);
  }

  #ended(conversation: string, standing: "removed" | "broken" | "missing", error: ClientError): void {
    this.#watched.get(conversation)?.stand(standing, error);
  }

  #changeSettings(settings: ServerSettings): void {
    if (this.#state.phase !== "open") return;
    this.#welcome = { ...this.#state.welcome, settings };
    this.#become({ phase: "open", welcome: this.#welcome });
  }

  #become(state: ConnectionState): void {
    if (this.#state.phase === "gone") return;
    this.#state = state;
    this.#events.changed?.(state);
  }

  #end(error: ClientError): void {
    if (this.#state.phase === "gone") return;
    this.#state = { phase: "gone", error };
    this.#connected.reject(error);
    for (const { answer } of this.#asked.values()) answer.reject(error);
    this.#asked.clear();
    for (const watched of this.#watched.values()) if (!watched.tree) watched.stand("missing", error);
    if (error.code !== "closed") this.#events.changed?.(this.#state);
  }
}
