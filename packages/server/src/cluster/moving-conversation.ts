import { ClientError, type Link } from "@banyan/client";
import { nodeLink, type ServerAddress } from "@banyan/client/node";
import { type Cursor, createId, cursorOf, type Message, SessionError, StoreError } from "@banyan/core";
import type { Command, CommandName, Problem, ServerFrame } from "@banyan/protocol";
import type { Watchable, Watching } from "../desk/elsewhere.ts";
import { Frame, type Viewer } from "../desk/live/frame.ts";
import type { Line } from "../desk/live/subscription.ts";
import { NotThere } from "../desk/problem.ts";

/** Where a conversation is to be watched now: on another node, here, or nowhere but in the database. */
export type WatchedAt =
  | { readonly node: ServerAddress; readonly here?: never }
  | { readonly here: Watchable; readonly node?: never }
  | { readonly here?: never; readonly node?: never };

/** What is known of a conversation that may move. */
export interface Whereabouts {
  /** Where it is now. May reject while nobody has it. */
  find(): Promise<WatchedAt>;
  /** As the database has it, for as long as the node that has it cannot be reached. */
  written(): Watchable;
  /** The number of its last event in the database. */
  end(): Promise<number>;
  /** Hears when somebody has written to it; until what is returned is called. */
  listen(hearing: () => void): () => void;
  /** A node that has it cannot be reached. */
  unreachable(node: ServerAddress, error: unknown): void;
  /** What happened here is told. */
  flush(): void;
}

/** Milliseconds between two looks for who has a conversation whose owner is gone, and for a node that could not be reached. */
const LOOK = 500;
const ANOTHER_TRY = 3_000;

/** Milliseconds for which a conversation is waited for that nobody has yet: longer than a lease. */
const PATIENCE = 20_000;

/** Milliseconds that a node has to take a connection, to begin to tell, and to tell what is in the database already. */
const CONNECT = 3_000;
const BEGIN = 10_000;
const OVERDUE = 3_000;

/**
 * A conversation that may move from node to node while it is watched. Where another one has it open, its frames come from there, as
 * they are, to the line of each client here. When who has it is gone or overtaken, it is looked for anew, and goes on with a
 * snapshot: on another node, or here. Whoever cannot be reached cannot keep it from being read: until then it is read in the database.
 */
export class MovingConversation implements Watchable {
  readonly #id: string;
  readonly #whereabouts: Whereabouts;

  constructor(id: string, whereabouts: Whereabouts) {
    this.#id = id;
    this.#whereabouts = whereabouts;
  }

  async subscribe(line: Line, from?: Cursor, leaf?: string): Promise<Watching> {
    const watching = new MovingWatching(this.#id, line, this.#whereabouts);
    await watching.beginSoon(from, leaf);
    return watching;
  }

  unsubscribe(watching: Watching): void {
    watching.end();
  }

  async read(
    messages: readonly string[],
    viewer: Viewer,
    watching: Watching | undefined,
    answer: (found: { readonly messages: readonly Message[]; readonly unknown: readonly string[] }) => void,
  ): Promise<void> {
    if (watching instanceof MovingWatching) return watching.read(messages, viewer, answer);
    // Nobody watches: the answer has no place in a feed.
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

const SILENT: Line = {
  viewer: { rights: ["show", "watch"] },
  send: () => {},
  isFull: false,
  room: async () => {},
};

/** What is asked of the node that has the conversation. */
type Asked<Name extends CommandName> = Omit<Command<Name>, "id" | "conversation">;

class MovingWatching implements Watching {
  readonly #id: string;
  readonly #line: Line;
  readonly #whereabouts: Whereabouts;
  readonly #unlisten: () => void;
  #at: Cursor | undefined;
  #link: Link | undefined;
  #local: { readonly conversation: Watchable; readonly watching: Watching } | undefined;
  #over = false;
  /** The node that has it has begun to tell of it. */
  #isWatching = false;
  /** Until the node has told what is in the database. */
  #overdue: NodeJS.Timeout | undefined;
  readonly #asked = new Map<string, PromiseWithResolvers<Record<string, unknown>>>();

  constructor(id: string, line: Line, whereabouts: Whereabouts) {
    this.#id = id;
    this.#line = line;
    this.#whereabouts = whereabouts;
    this.#unlisten = whereabouts.listen(() => this.#rung());
  }

  /** Begins as soon as it is anywhere. */
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
    const place = await this.#whereabouts.find();
    if (this.#over) return;
    if (place.here) return this.#watch(place.here, leaf);
    if (await this.#reaches(place)) return this.#watchThere(leaf);
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
    const asked = this.#ask({ type: "feed.subscribe", ...(from && { from }), ...(leaf && { leaf }) });
    await within(BEGIN, asked);
    this.#isWatching = true;
  }

  /** Whether the node is connected to: what is between it and this one may swallow all that is said. */
  async #reaches({ node }: WatchedAt): Promise<boolean> {
    if (!node) return false;
    try {
      await within(CONNECT, this.#connect(node));
      return true;
    } catch (error) {
      this.#leave();
      this.#whereabouts.unreachable(node, error);
      return false;
    }
  }

  /** Reads on in the database until the conversation is anywhere that can be reached. */
  async #lookForBetter(written: Watchable): Promise<void> {
    while (this.#local?.conversation === written && !this.#over) {
      await pause(ANOTHER_TRY);
      const place = await this.#whereabouts.find().catch(() => undefined);
      if (!place || !(place.here || (await this.#reaches(place)))) continue;
      this.#unsubscribe();
      this.#at = undefined;
      if (this.#over) return this.#leave();
      try {
        return await (place.here ? this.#watch(place.here, undefined) : this.#watchThere());
      } catch {
        // It has moved between the two.
        this.#leave();
        return this.#anew();
      }
    }
  }

  /** Somebody wrote to it. */
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
        // Without the database, the node is all there is.
        () => {},
      );
    }, OVERDUE).unref();
  }

  async read(
    messages: readonly string[],
    viewer: Viewer,
    answer: (found: { readonly messages: readonly Message[]; readonly unknown: readonly string[] }) => void,
  ): Promise<void> {
    if (this.#local) return this.#local.conversation.read(messages, viewer, this.#local.watching, answer);
    const result = await this.#ask({ type: "message.read", messages });
    answer(result as unknown as { messages: readonly Message[]; unknown: readonly string[] });
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
        this.#asked.get(frame.id)?.reject(refusal(frame.error));
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
      await pause(LOOK);
    }
  }

  #leave(): void {
    const link = this.#link;
    this.#link = undefined;
    link?.close();
  }
}

/** Where a node has let it go just now, it is looked for again. */
function refusal({ code, message }: Problem): Error {
  return code === "locked" || code === "stopping" ? new ClientError("unreachable", message) : new NotThere(message);
}

function pause(time: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, time).unref());
}

/** Rejects when something takes longer. */
async function within<T>(time: number, work: Promise<T>): Promise<T> {
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
    `Conversation ${conversation} is open on a server that cannot be reached. Check its --address, and that both servers use the same token.`,
    { cause },
  );
}
