import { ClientError, type Link } from "@banyan/client";
import { nodeLink, type ServerAddress } from "@banyan/client/node";
import { type Cursor, createId, cursorOf, SessionError, StoreError } from "@banyan/core";
import {
  type ClientConnection,
  ClientFrame,
  type FeedSubscription,
  type FeedViewer,
  type FoundMessages,
  NotThereError,
  type Watchable,
} from "@banyan/desk/serving";
import type { Command, CommandName, Problem, ServerFrame } from "@banyan/protocol";

/** The place to watch a conversation now: another node, this node, or only the database. */
export type FeedSource =
  | { readonly node: ServerAddress; readonly here?: never }
  | { readonly here: Watchable; readonly node?: never }
  | { readonly here?: never; readonly node?: never };

/** Finds a conversation that may move between nodes. */
export interface ConversationLocator {
  /** May reject while no node has the conversation. */
  find(): Promise<FeedSource>;
  written(): Watchable;
  end(): Promise<number>;
  /** Calls `hearing` when a node has written to the conversation, until the returned function is called. */
  listen(hearing: () => void): () => void;
  /** Reports that the node with the conversation cannot be reached. */
  unreachable(node: ServerAddress, error: unknown): void;
  flush(): void;
}

/** Milliseconds between two searches for a new owner, and between two attempts to reach a node. */
const LOOK = 500;
const ANOTHER_TRY = 3_000;

/** Milliseconds to wait for a conversation without an owner: longer than a lease. */
const PATIENCE = 20_000;

/** Milliseconds for a node to accept a connection, to begin the feed, and to send events that the database already has. */
const CONNECT = 3_000;
const BEGIN = 10_000;
const OVERDUE = 3_000;

/**
 * A conversation that clients watch and that can move between nodes. Frames of another node are passed on unchanged. If
 * the owner is gone or has lost the conversation, this object looks for it again and continues with a snapshot, on
 * another node or here. While the owner cannot be reached, clients read from the database.
 */
export class MovingConversation implements Watchable {
  readonly #id: string;
  readonly #whereabouts: ConversationLocator;

  constructor(id: string, whereabouts: ConversationLocator) {
    this.#id = id;
    this.#whereabouts = whereabouts;
  }

  async subscribe(line: ClientConnection, from?: Cursor, leaf?: string): Promise<FeedSubscription> {
    const watching = new MovingWatching(this.#id, line, this.#whereabouts);
    await watching.beginSoon(from, leaf);
    return watching;
  }

  unsubscribe(watching: FeedSubscription): void {
    watching.end();
  }

  async read(
    messages: readonly string[],
    viewer: FeedViewer,
    watching: FeedSubscription | undefined,
    answer: (found: FoundMessages) => void,
  ): Promise<void> {
    if (watching instanceof MovingWatching) return watching.read(messages, viewer, answer);
    const alone = new MovingWatching(this.#id, SILENT, this.#whereabouts);
    try {
      await alone.beginSoon();
      await alone.read(messages, viewer, answer);
    } finally {
      alone.end();
    }
  }

  flush(): void {
    this.#whereabouts.flush();
  }
}

const SILENT: ClientConnection = {
  viewer: { rights: ["show", "watch"] },
  send: () => {},
  isFull: false,
  room: async () => {},
};

type OwnerRequest<Name extends CommandName> = Omit<Command<Name>, "id" | "conversation">;

class MovingWatching implements FeedSubscription {
  readonly #id: string;
  readonly #line: ClientConnection;
  readonly #whereabouts: ConversationLocator;
  readonly #unlisten: () => void;
  #at: Cursor | undefined;
  #link: Link | undefined;
  #local: { readonly conversation: Watchable; readonly watching: FeedSubscription } | undefined;
  #over = false;
  #isWatching = false;
  #overdue: NodeJS.Timeout | undefined;
  readonly #asked = new Map<string, PromiseWithResolvers<Record<string, unknown>>>();

  constructor(id: string, line: ClientConnection, whereabouts: ConversationLocator) {
    this.#id = id;
    this.#line = line;
    this.#whereabouts = whereabouts;
    this.#unlisten = whereabouts.listen(() => this.#rung());
  }

  /** Begins as soon as the conversation is open anywhere. */
  async beginSoon(from?: Cursor, leaf?: string): Promise<void> {
    for (const until = performance.now() + PATIENCE; ; ) {
      try {
        return await this.begin(from, leaf);
      } catch (error) {
        this.#leave();
        const isMoving = error instanceof ClientError || error instanceof SessionError;
        if (!isMoving || performance.now() > until || this.#over) {
          this.end();
          throw isMoving ? unreachable(this.#id, error) : error;
        }
      }
      await pause(LOOK);
    }
  }

  async begin(from?: Cursor, leaf?: string): Promise<void> {
    this.#at = from ?? this.#at;
    const source = await this.#whereabouts.find();
    if (this.#over) return;
    if (source.here) return this.#watch(source.here, leaf);
    if (await this.#reaches(source)) return this.#watchThere(leaf);
    const written = this.#whereabouts.written();
    await this.#watch(written, leaf);
    this.#lookForBetter(written).catch(() => {});
  }

  async #watch(conversation: Watchable, leaf: string | undefined): Promise<void> {
    const watching = await conversation.subscribe(this.#tapped(), this.#at, leaf);
    this.#local = { conversation, watching };
    if (this.#over) conversation.unsubscribe(watching);
  }

  async #watchThere(leaf?: string): Promise<void> {
    this.#isWatching = false;
    const from = this.#at;
    const subscribing = this.#ask({ type: "feed.subscribe", ...(from && { from }), ...(leaf && { leaf }) });
    await rejectAfter(BEGIN, subscribing);
    this.#isWatching = true;
  }

  /** Connects to the node, within `CONNECT`: a network fault may swallow all packets without an error. */
  async #reaches({ node }: FeedSource): Promise<boolean> {
    if (!node) return false;
    try {
      await rejectAfter(CONNECT, this.#connect(node));
      return true;
    } catch (error) {
      this.#leave();
      this.#whereabouts.unreachable(node, error);
      return false;
    }
  }

  /** Reads from the database until the conversation is open on a reachable node. */
  async #lookForBetter(written: Watchable): Promise<void> {
    while (this.#local?.conversation === written && !this.#over) {
      await pause(ANOTHER_TRY);
      const source = await this.#whereabouts.find().catch(() => undefined);
      if (!source || !(source.here || (await this.#reaches(source)))) continue;
      this.#unsubscribe();
      this.#at = undefined;
      if (this.#over) return this.#leave();
      try {
        return await (source.here ? this.#watch(source.here, undefined) : this.#watchThere());
      } catch {
        // The conversation has moved between the two calls.
        this.#leave();
        return this.#anew();
      }
    }
  }

  #rung(): void {
    if (!this.#link || !this.#isWatching || this.#overdue) return;
    const [link, at] = [this.#link, this.#at];
    const isStill = () => this.#link === link && this.#at === at;
    this.#overdue = setTimeout(() => {
      this.#overdue = undefined;
      if (!isStill()) return;
      this.#whereabouts.end().then(
        (end) => {
          if (isStill() && end > (at?.seq ?? 0))
            this.#lost(new ClientError("unreachable", "The node stopped sending events."));
        },
        // Without the database, the node is the only source.
        () => {},
      );
    }, OVERDUE).unref();
  }

  async read(messages: readonly string[], viewer: FeedViewer, answer: (found: FoundMessages) => void): Promise<void> {
    if (this.#local) return this.#local.conversation.read(messages, viewer, this.#local.watching, answer);
    const result = await this.#ask({ type: "message.read", messages });
    answer(result as unknown as FoundMessages);
  }

  end(): void {
    this.#over = true;
    this.#unlisten();
    clearTimeout(this.#overdue);
    this.#unsubscribe();
    this.#leave();
  }

  #unsubscribe(): void {
    this.#local?.conversation.unsubscribe(this.#local.watching);
    this.#local = undefined;
  }

  /** The client's connection for a conversation of this node: if the feed breaks, the search begins again. */
  #tapped(): ClientConnection {
    const line = this.#line;
    return {
      viewer: line.viewer,
      send: (frame, at) => {
        if (this.#over) return;
        if (frame.type === "ended" && "reason" in frame.told && frame.told.reason === "broken") return this.#moved();
        this.#at = at ?? this.#at;
        line.send(frame, at);
      },
      get isFull() {
        return line.isFull;
      },
      room: () => line.room(),
    };
  }

  #moved(): void {
    this.#local = undefined;
    this.#anew();
  }

  #connect(node: ServerAddress): Promise<void> {
    const up = Promise.withResolvers<void>();
    let isUp = false;
    this.#link = nodeLink(node)({
      up: () => {
        isUp = true;
        up.resolve();
      },
      down: () => this.#lost(new ClientError("unreachable", "The connection to the node was lost.")),
      // A caller that waits for the connection gets the error; afterwards, the link counts as lost.
      gone: (error) => (isUp ? this.#lost(error) : up.reject(error)),
      frame: (frame) => this.#hear(frame),
      shared: () => {},
    });
    return up.promise;
  }

  #ask(command: OwnerRequest<"feed.subscribe"> | OwnerRequest<"message.read">): Promise<Record<string, unknown>> {
    const id = createId();
    const answer = Promise.withResolvers<Record<string, unknown>>();
    this.#asked.set(id, answer);
    this.#link?.send({ ...command, id, conversation: this.#id } as Command);
    return answer.promise;
  }

  #hear(frame: ServerFrame): void {
    if (this.#over) return;
    switch (frame.type) {
      case "done":
        this.#asked.get(frame.id)?.resolve(frame.result);
        this.#asked.delete(frame.id);
        return;
      case "failed":
        this.#asked.get(frame.id)?.reject(errorFromNode(frame.error));
        this.#asked.delete(frame.id);
        return;
      case "stopping":
        return this.#lost(new ClientError("unreachable", frame.message));
      case "ended":
        // The feed broke there, for example because another node took the conversation: search for the new owner.
        if (frame.reason === "broken") return this.#lost(new ClientError("unreachable", frame.message));
        break;
      case "snapshot":
        this.#at = frame.cursor;
        break;
      case "feed": {
        const last = frame.items.findLast((item) => cursorOf(item) !== undefined);
        this.#at = (last && cursorOf(last)) ?? this.#at;
        break;
      }
      default:
        return;
    }
    this.#line.send(new ClientFrame(frame), this.#at);
    if (this.#line.isFull) this.#pause();
  }

  /** Limits the data that waits for a slow client: the feed starts again when there is room. */
  #pause(): void {
    this.#leave();
    this.#line
      .room()
      .then(() => this.#again())
      .catch(() => {});
  }

  #lost(error: Error): void {
    if (this.#link === undefined) return;
    this.#leave();
    for (const pending of this.#asked.values()) pending.reject(error);
    this.#asked.clear();
    // A caller that waits for the beginning gets the error; a watching client continues elsewhere.
    if (this.#isWatching) this.#anew();
  }

  /** Another writer may have the conversation, and the client may be ahead of its log: begin with a snapshot. */
  #anew(): void {
    this.#at = undefined;
    // Tries until the client is gone.
    this.#again().catch(() => {});
  }

  async #again(): Promise<void> {
    while (!this.#over) {
      try {
        return await this.begin();
      } catch {
        // No node has the conversation, or its lease has not expired yet.
        this.#leave();
      }
      await pause(LOOK);
    }
  }

  #leave(): void {
    const link = this.#link;
    this.#link = undefined;
    link?.close();
  }
}

/** A conversation that its node has just released is looked up again. */
function errorFromNode({ code, message }: Problem): Error {
  return code === "locked" || code === "stopping"
    ? new ClientError("unreachable", message)
    : new NotThereError(message);
}

function pause(time: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, time).unref());
}

async function rejectAfter<T>(time: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const error = new ClientError("unreachable", `No data came within ${time / 1_000} s.`);
    timer = setTimeout(() => reject(error), time);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function unreachable(conversation: string, cause: unknown): StoreError {
  return new StoreError(
    "locked",
    `Conversation ${conversation} is open on a server that cannot be reached. Check that server's --address, and that both servers use the same token.`,
    { cause },
  );
}
