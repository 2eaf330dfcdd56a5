import { Mirror } from "@banyan/client";
import { type Cursor, createId, cursorOf, type FeedItem, isDelta } from "@banyan/core/conversation";
import {
  type Command,
  type CommandName,
  PROTOCOL,
  type Result,
  type ServerFrame,
  serverFrame,
  sizeOf,
} from "@banyan/protocol";
import { onTestFinished } from "vitest";
import { WebSocket } from "ws";
import type { RunningServer } from "../server.ts";

type Frame<Type extends ServerFrame["type"]> = Extract<ServerFrame, { type: Type }>;
type Input<Name extends CommandName> = Omit<Command<Name>, "type" | "id"> & { readonly id?: string };

/** An item that stands at or before the place where the client is would be told twice; an event left out would be missing. */
function mustFollow(at: Cursor, item: FeedItem): void {
  const place = cursorOf(item);
  if (!place) return;
  const begins = isDelta(item) ? item.offset - item.text.length : 0;
  const repeated = place.seq < at.seq || (place.seq === at.seq && (begins < at.offset || !isDelta(item)));
  const missed = !isDelta(item) && place.seq > at.seq + 1;
  if (repeated || missed)
    throw new Error(`${item.type} at ${JSON.stringify(place)} does not follow ${JSON.stringify(at)}.`);
}

function saidIn({ state }: Mirror): number {
  let size = 0;
  for (const message of state.messages.values()) size += sizeOf(message);
  return size;
}

/** A client on a real socket that checks every frame against its schema. */
export class TestClient {
  readonly socket: WebSocket;
  readonly frames: ServerFrame[] = [];
  readonly mirrors = new Map<string, Mirror>();
  /** Conversations whose messages are being read, by the id of the command. */
  readonly #reading = new Map<string, string>();
  /** What the feeds brought, in order, snapshots left out. */
  readonly items: FeedItem[] = [];
  /** How much the messages of all conversations said at each place of a feed that this client was at. */
  readonly said = new Map<string, number>();
  closed: { readonly code: number; readonly reason: string } | undefined;
  /** What was wrong with a frame. */
  #wrong: unknown;
  readonly #waiting = new Set<() => void>();

  constructor(address: string, headers: Readonly<Record<string, string>>) {
    this.socket = new WebSocket(`${address.replace("http", "ws")}/api/v1/socket`, { headers });
    this.socket.on("message", (data) => {
      try {
        this.#take(String(data));
      } catch (error) {
        this.#wrong = error;
        this.#look();
        // Whoever waits for nothing must not miss it.
        throw error;
      }
    });
    this.socket.on("close", (code, reason) => {
      this.closed = { code, reason: String(reason) };
      this.#look();
    });
    this.socket.on("error", () => {
      // The tests look at how it closed.
    });
    onTestFinished(() => this.socket.terminate());
  }

  /** A client that has been welcomed. */
  static async connect(server: Pick<RunningServer, "address" | "token">, token = server.token): Promise<TestClient> {
    const client = new TestClient(server.address, { authorization: `Bearer ${token}` });
    await new Promise((resolve, reject) => client.socket.once("open", resolve).once("error", reject));
    client.sendText(JSON.stringify({ type: "hello", protocol: PROTOCOL, client: "a test" }));
    await client.frame("welcome");
    return client;
  }

  sendText(text: string): void {
    this.socket.send(text);
  }

  /** Sends a command and answers its id. */
  send<Name extends CommandName>(type: Name, { id = createId(), ...input }: Input<Name>): string {
    if (type === "message.read" && "conversation" in input) this.#reading.set(id, String(input.conversation));
    this.sendText(JSON.stringify({ type, id, ...input }));
    return id;
  }

  /** What the answer to a command holds. Rejects when it was not carried out. */
  async ask<Name extends CommandName>(type: Name, input: Input<Name>): Promise<Result<Name>> {
    const outcome = await this.outcome(this.send(type, input));
    if (outcome.type === "failed") throw Object.assign(new Error(outcome.error.message), { code: outcome.error.code });
    return outcome.result as Result<Name>;
  }

  /** The answer to a command, whichever it is; the `nth` one if it was sent more than once. */
  async outcome(id: string, nth = 1): Promise<Frame<"done"> | Frame<"failed">> {
    return this.until(() => {
      const answers = this.frames.filter(
        (frame): frame is Frame<"done"> | Frame<"failed"> =>
          (frame.type === "done" || frame.type === "failed") && frame.id === id,
      );
      return answers[nth - 1];
    });
  }

  /** The first frame of a type. */
  frame<Type extends ServerFrame["type"]>(type: Type, fits: (frame: Frame<Type>) => boolean = () => true) {
    return this.until(() =>
      this.frames.find((frame): frame is Frame<Type> => frame.type === type && fits(frame as Frame<Type>)),
    );
  }

  /** Begins to watch a conversation, with a snapshot. */
  async watch(conversation: string, leaf?: string): Promise<Mirror> {
    await this.ask("feed.subscribe", { conversation, ...(leaf === undefined ? {} : { leaf }) });
    return this.until(() => this.mirrors.get(conversation));
  }

  /** The first item of the feeds that fits. */
  item<Type extends FeedItem["type"]>(
    type: Type,
    fits: (item: Extract<FeedItem, { type: Type }>) => boolean = () => true,
  ) {
    return this.until(() =>
      this.items.find(
        (item): item is Extract<FeedItem, { type: Type }> =>
          item.type === type && fits(item as Extract<FeedItem, { type: Type }>),
      ),
    );
  }

  /** Waits until there is something, looking after each frame. Rejects when a frame is wrong, or the connection ends before. */
  async until<Found>(find: () => Found | undefined | false): Promise<Found> {
    for (;;) {
      const found = find();
      if (found !== undefined && found !== false) return found;
      if (this.#wrong !== undefined) throw this.#wrong;
      if (this.closed) throw new Error(`The connection was closed: ${this.closed.code} ${this.closed.reason}`);
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  /** Watches a conversation no more, and forgets what came so far: for a client that lives through many of them. */
  async forget(conversation: string): Promise<void> {
    await this.ask("feed.unsubscribe", { conversation });
    this.mirrors.delete(conversation);
    this.frames.length = 0;
    this.items.length = 0;
    this.said.clear();
    this.#reading.clear();
  }

  /** Resolves when the connection has ended. */
  async end(): Promise<{ readonly code: number; readonly reason: string }> {
    while (!this.closed) await new Promise<void>((resolve) => this.#waiting.add(resolve));
    return this.closed;
  }

  #take(text: string): void {
    const frame = serverFrame.parse(JSON.parse(text));
    this.frames.push(frame);
    if (frame.type === "snapshot") this.mirrors.set(frame.conversation, new Mirror(frame));
    if (frame.type === "feed") {
      this.items.push(...frame.items);
      const mirror = this.mirrors.get(frame.conversation);
      if (mirror) {
        for (const item of frame.items) {
          mustFollow(mirror.cursor, item);
          mirror.take([item]);
        }
        const { epoch, seq, offset } = mirror.cursor;
        this.said.set(`${frame.conversation} ${epoch}.${seq}.${offset}`, saidIn(mirror));
      }
    }
    if (frame.type === "done" && this.#reading.has(frame.id)) {
      const { messages } = frame.result as Result<"message.read">;
      this.mirrors.get(this.#reading.get(frame.id) ?? "")?.fill(messages);
    }
    this.#look();
  }

  #look(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}
