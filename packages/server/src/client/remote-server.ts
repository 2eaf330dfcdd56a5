import { createId } from "@banyan/core/conversation";
import {
  type Command,
  type CommandName,
  MESSAGES_AT_ONCE,
  type Problem,
  type Result,
  type ServerFrame,
  type ServerSettings,
  type Welcome,
} from "@banyan/protocol";
import { Link, type LinkOptions } from "./link.ts";
import { RemoteConversation } from "./remote-conversation.ts";
import { RemoteError } from "./remote-error.ts";

/** What a command says beside its type and its id. */
type Input<Name extends CommandName> = Omit<Command<Name>, "type" | "id"> & { readonly id?: string };

/** What happens to a connection, for whoever shows it. */
export interface RemoteEvents {
  /** The connection was lost, or is there again. */
  connection?(state: "lost" | "back"): void;
  /** The server's settings are others now. */
  settings?(settings: ServerSettings): void;
  /** It cannot be had any more. */
  gone?(error: RemoteError): void;
}

interface Asked {
  readonly command: Command;
  readonly answered: PromiseWithResolvers<Result>;
}

/**
 * A client of a server. It connects again when the connection is lost, goes on with what it watched where it was, and
 * sends again what was not answered: each command acts once all the same.
 */
export class RemoteServer {
  readonly #events: RemoteEvents;
  readonly #link: Link;
  readonly #asked = new Map<string, Asked>();
  readonly #watched = new Map<string, RemoteConversation>();
  /** Those that are subscribed to for the first time, until their snapshot comes. */
  readonly #expected = new Map<string, PromiseWithResolvers<RemoteConversation>>();
  /** Conversations that are being subscribed to again, by the id of the command. */
  readonly #again = new Map<string, string>();
  readonly #up = Promise.withResolvers<void>();
  #welcome: Welcome | undefined;
  #error: RemoteError | undefined;

  private constructor(options: LinkOptions, events: RemoteEvents) {
    this.#events = events;
    this.#link = new Link(options, {
      up: (welcome) => this.#connected(welcome),
      frame: (frame) => this.#take(frame),
      down: () => events.connection?.("lost"),
      lost: (error) => this.#lose(error),
    });
  }

  /** Connects to a server, which may take its time until `signal` aborts. Rejects with `RemoteError`. */
  static async connect(options: LinkOptions, events: RemoteEvents = {}, signal?: AbortSignal): Promise<RemoteServer> {
    const remote = new RemoteServer(options, events);
    const onAbort = () => remote.close();
    if (signal?.aborted) onAbort();
    signal?.addEventListener("abort", onAbort);
    try {
      await remote.#up.promise;
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
    return remote;
  }

  /** What the server said of itself last. */
  get welcome(): Welcome {
    if (!this.#welcome) throw new RemoteError("closed", "This client is not connected yet.");
    return this.#welcome;
  }

  /** Asks for something, now or as soon as there is a connection. Rejects with `RemoteError`. */
  ask<Name extends CommandName>(type: Name, { id = createId(), ...input }: Input<Name>): Promise<Result<Name>> {
    if (this.#error) return Promise.reject(this.#error);
    const command = { type, id, ...input } as unknown as Command;
    const answered = Promise.withResolvers<Result>();
    this.#asked.set(id, { command, answered });
    this.#link.send(JSON.stringify(command));
    return answered.promise as Promise<Result<Name>>;
  }

  /** Watches a conversation; its messages are read as far as a snapshot brings them. Rejects with `RemoteError`. */
  async watch(conversation: string, leaf?: string): Promise<RemoteConversation> {
    const expected = Promise.withResolvers<RemoteConversation>();
    this.#expected.set(conversation, expected);
    const subscribed = this.ask("feed.subscribe", { conversation, ...(leaf === undefined ? {} : { leaf }) });
    return subscribed.then(
      () => expected.promise,
      (error: unknown) => {
        this.#expected.delete(conversation);
        throw error;
      },
    );
  }

  /**
   * Reads what messages of a watched conversation say, all of them when none are named, as far as that is not known. Rejects
   * with `RemoteError`.
   */
  async read(watched: RemoteConversation, messages?: Iterable<string>): Promise<void> {
    const named = messages && [...messages];
    // The server may begin anew meanwhile, with messages that were not there before.
    const rest = () => watched.mirror.unread(named ?? watched.state.messages.keys());
    for (let unread = rest(); unread.length > 0; unread = rest())
      await this.ask("message.read", { conversation: watched.id, messages: unread.slice(0, MESSAGES_AT_ONCE) });
  }

  /** Watches a conversation no more. */
  async leave(watched: RemoteConversation): Promise<void> {
    this.#watched.delete(watched.id);
    await this.ask("feed.unsubscribe", { conversation: watched.id });
  }

  /** Ends the connection. What was not answered is rejected. */
  close(): void {
    this.#link.close();
    this.#lose(new RemoteError("closed", "The connection was closed."));
  }

  #connected(welcome: Welcome): void {
    const again = this.#welcome !== undefined;
    this.#welcome = welcome;
    this.#up.resolve();
    // What was asked of the connection before has no answer on this one, and its cursors are old.
    this.#again.clear();
    for (const { id: conversation, mirror } of this.#watched.values()) {
      const id = createId();
      this.#again.set(id, conversation);
      this.#link.send(JSON.stringify({ type: "feed.subscribe", id, conversation, from: mirror.cursor }));
    }
    for (const { command } of this.#asked.values()) this.#link.send(JSON.stringify(command));
    if (again) this.#events.connection?.("back");
  }

  #take(frame: ServerFrame): void {
    switch (frame.type) {
      case "done":
        this.#answer(frame.id, frame.result as Result);
        break;
      case "failed":
        this.#refuse(frame.id, frame.error);
        break;
      case "snapshot": {
        const known = this.#watched.get(frame.conversation);
        if (known) known.renew(frame);
        const watched = known ?? new RemoteConversation(frame);
        this.#watched.set(frame.conversation, watched);
        this.#expected.get(frame.conversation)?.resolve(watched);
        this.#expected.delete(frame.conversation);
        break;
      }
      case "feed":
        this.#watched.get(frame.conversation)?.take(frame.items);
        break;
      case "ended":
        this.#end(frame.conversation, frame.message);
        break;
      case "settings":
        if (this.#welcome) this.#welcome = { ...this.#welcome, settings: frame.settings };
        this.#events.settings?.(frame.settings);
        break;
    }
  }

  #answer(id: string, result: Result): void {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    if (asked?.command.type === "message.read") {
      const { messages } = result as Result<"message.read">;
      this.#watched.get(asked.command.conversation)?.mirror.fill(messages);
    }
    asked?.answered.resolve(result);
  }

  #refuse(id: string, { code, message }: Problem): void {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    asked?.answered.reject(new RemoteError(code, message));
    const conversation = this.#again.get(id);
    if (conversation !== undefined) this.#end(conversation, message);
  }

  #end(conversation: string, message: string): void {
    const watched = this.#watched.get(conversation);
    this.#watched.delete(conversation);
    watched?.end(message);
  }

  #lose(error: RemoteError): void {
    if (this.#error) return;
    this.#error = error;
    this.#up.reject(error);
    // Whoever waited for it is told; whoever did not must not end the process.
    this.#up.promise.catch(() => {});
    for (const { answered } of this.#asked.values()) answered.reject(error);
    this.#asked.clear();
    if (error.code !== "closed") this.#events.gone?.(error);
  }
}
