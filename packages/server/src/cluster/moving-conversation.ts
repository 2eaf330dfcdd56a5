import { type Cursor, createId, cursorOf, type Message, StoreError } from "@banyan/core";
import type { Command, CommandName, ServerFrame } from "@banyan/protocol";
import { ClientError, type Link } from "@banyan/protocol/client";
import { nodeLink, type ServerAddress } from "@banyan/protocol/node";
import type { Watchable, Watching } from "../desk/elsewhere.ts";
import { Frame } from "../desk/live/frame.ts";
import type { Line } from "../desk/live/subscription.ts";

/** Where a conversation is to be watched now: on another node, or here. */
export type Place =
  | { readonly node: ServerAddress; readonly here?: never }
  | { readonly here: Watchable; readonly node?: never };

/** Milliseconds between two looks for who has a conversation whose owner is gone. */
const LOOK = 500;

/** Milliseconds for which a node that does not answer is waited for: longer than a lease. */
const PATIENCE = 20_000;

/**
 * A conversation that may move from node to node while it is watched. Where another one has it open, its frames come from there, as
 * they are, to the line of each client here. When who has it is gone or overtaken, it is looked for anew, and goes on with a
 * snapshot: on another node, or here.
 */
export class MovingConversation implements Watchable {
  readonly #id: string;
  readonly #find: () => Promise<Place>;
  readonly #flush: () => void;

  /** `find` answers where it is now; it may reject while nobody has it. `flush`: what happened here is told. */
  constructor(id: string, find: () => Promise<Place>, flush: () => void) {
    this.#id = id;
    this.#find = find;
    this.#flush = flush;
  }

  async subscribe(line: Line, from?: Cursor, leaf?: string): Promise<Watching> {
    const watching = new MovingWatching(this.#id, line, this.#find);
    await watching.beginSoon(from, leaf);
    return watching;
  }

  unsubscribe(watching: Watching): void {
    watching.end();
  }

  async read(
    messages: readonly string[],
    watching: Watching | undefined,
    answer: (found: { readonly messages: readonly Message[]; readonly unknown: readonly string[] }) => void,
  ): Promise<void> {
    if (watching instanceof MovingWatching) return watching.read(messages, answer);
    // Nobody watches: the answer has no place in a feed.
    const alone = new MovingWatching(this.#id, SILENT, this.#find);
    try {
      await alone.beginSoon();
      await alone.read(messages, answer);
    } finally {
      alone.end();
    }
  }

  flush(): void {
    this.#flush();
  }
}

const SILENT: Line = {
  viewer: { rights: ["watch"] },
  send: () => {},
  isFull: false,
  room: async () => {},
};

/** What is asked of the node that has the conversation. */
type Asked<Name extends CommandName> = Omit<Command<Name>, "id" | "conversation">;

class MovingWatching implements Watching {
  readonly #id: string;
  readonly #line: Line;
  readonly #find: () => Promise<Place>;
  #at: Cursor | undefined;
  #link: Link | undefined;
  #local: { readonly conversation: Watchable; readonly watching: Watching } | undefined;
  #over = false;
  /** The node that has it has begun to tell of it. */
  #isWatching = false;
  readonly #asked = new Map<string, PromiseWithResolvers<Record<string, unknown>>>();

  constructor(id: string, line: Line, find: () => Promise<Place>) {
    this.#id = id;
    this.#line = line;
    this.#find = find;
  }

  /** Begins, when the node that has it can be reached: one that died keeps it until its lease is over. */
  async beginSoon(from?: Cursor, leaf?: string): Promise<void> {
    for (const until = performance.now() + PATIENCE; ; ) {
      try {
        return await this.begin(from, leaf);
      } catch (error) {
        this.#leave();
        if (!(error instanceof ClientError)) throw error;
        if (performance.now() > until || this.#over) throw unreachable(this.#id, error);
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK).unref());
    }
  }

  async begin(from?: Cursor, leaf?: string): Promise<void> {
    this.#at = from ?? this.#at;
    const place = await this.#find();
    if (this.#over) return;
    if (place.here) {
      const watching = await place.here.subscribe(this.#tapped(), this.#at, leaf);
      this.#local = { conversation: place.here, watching };
      if (this.#over) place.here.unsubscribe(watching);
      return;
    }
    await this.#connect(place.node);
    this.#isWatching = false;
    await this.#ask({ type: "feed.subscribe", ...(this.#at && { from: this.#at }), ...(leaf && { leaf }) });
    this.#isWatching = true;
  }

  async read(
    messages: readonly string[],
    answer: (found: { readonly messages: readonly Message[]; readonly unknown: readonly string[] }) => void,
  ): Promise<void> {
    if (this.#local) return this.#local.conversation.read(messages, this.#local.watching, answer);
    const result = await this.#ask({ type: "message.read", messages });
    answer(result as unknown as { messages: readonly Message[]; unknown: readonly string[] });
  }

  end(): void {
    this.#over = true;
    this.#local?.conversation.unsubscribe(this.#local.watching);
    this.#leave();
  }

  /** The client's line, for a conversation of this node: where it breaks off, it is looked for elsewhere. */
  #tapped(): Line {
    const line = this.#line;
    return {
      viewer: line.viewer,
      send: (frame, at) => {
        if (this.#over) return;
        if (frame.told.type === "ended" && frame.told.reason === "broken") return this.#moved();
        this.#at = at ?? this.#at;
        line.send(frame, at);
      },
      get isFull() {
        return line.isFull;
      },
      room: () => line.room(),
    };
  }

  /** It broke here, as when another node took it. */
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
      // Who waits for it to come up is told; then it is lost to whoever has it.
      gone: (error) => (isUp ? this.#lost(error) : up.reject(error)),
      frame: (frame) => this.#hear(frame),
      // Of a desk in this process only.
      shared: () => {},
    });
    return up.promise;
  }

  #ask(command: Asked<"feed.subscribe"> | Asked<"message.read">): Promise<Record<string, unknown>> {
    const id = createId();
    const asked = Promise.withResolvers<Record<string, unknown>>();
    this.#asked.set(id, asked);
    this.#link?.send({ ...command, id, conversation: this.#id } as Command);
    return asked.promise;
  }

  #hear(frame: ServerFrame): void {
    if (this.#over) return;
    switch (frame.type) {
      case "done":
        this.#asked.get(frame.id)?.resolve(frame.result);
        this.#asked.delete(frame.id);
        return;
      case "failed":
        this.#asked.get(frame.id)?.reject(Object.assign(new Error(frame.error.message), { name: "NotThere" }));
        this.#asked.delete(frame.id);
        return;
      case "stopping":
        return this.#lost(new ClientError("unreachable", frame.message));
      case "ended":
        // It broke there, as when another node took it: there is more of it elsewhere.
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
    this.#line.send(new Frame(frame), this.#at);
    if (this.#line.isFull) this.#pause();
  }

  /** What waits for a slow client is bounded: the rest is asked for again when there is room. */
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
    for (const asked of this.#asked.values()) asked.reject(error);
    this.#asked.clear();
    // Who waits for it to begin is told; who watches goes on elsewhere.
    if (this.#isWatching) this.#anew();
  }

  /** Another writer may have it: what the client has may be ahead of its log, so it begins with a snapshot. */
  #anew(): void {
    this.#at = undefined;
    // It tries until the client is gone.
    this.#again().catch(() => {});
  }

  async #again(): Promise<void> {
    while (!this.#over) {
      try {
        return await this.begin();
      } catch {
        // Nobody has it, or who had it is not gone yet for the database.
        this.#leave();
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK).unref());
    }
  }

  #leave(): void {
    const link = this.#link;
    this.#link = undefined;
    link?.close();
  }
}

function unreachable(conversation: string, cause: unknown): StoreError {
  return new StoreError(
    "locked",
    `Conversation ${conversation} is open on a server that this one does not reach; see that its --address is right, and the tokens are the same.`,
    { cause },
  );
}
