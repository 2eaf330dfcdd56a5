import { Mirror } from "@banyan/client";
import { type Cursor, createId, cursorOf, type FeedItem, isDelta } from "@banyan/core/conversation";
import {
  type Command,
  type CommandName,
  messageSize,
  PROTOCOL,
  type Result,
  type ServerFrame,
  serverFrame,
} from "@banyan/protocol";
import { onTestFinished } from "vitest";
import { WebSocket } from "ws";
import type { RunningServer } from "../server.ts";

type Frame<Type extends ServerFrame["type"]> = Extract<ServerFrame, { type: Type }>;
type Input<Name extends CommandName> = Omit<Command<Name>, "type" | "id"> & { readonly id?: string };

/** Throws if an item repeats data at or before the client's position, or skips an event. */
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
  for (const message of state.messages.values()) size += messageSize(message);
  return size;
}

/** A client on a real socket that checks every frame with its schema. */
export class TestClient {
  readonly socket: WebSocket;
  readonly frames: ServerFrame[] = [];
  readonly mirrors = new Map<string, Mirror>();
  /** Conversations of pending `message.read` commands, by the id of the command. */
  readonly #reading = new Map<string, string>();
  /** All feed items in order, without snapshots. */
  readonly items: FeedItem[] = [];
  /** The length of all text in a conversation at each feed position of this client. */
  readonly said = new Map<string, number>();
  closed: { readonly code: number; readonly reason: string } | undefined;
  /** The first error in a frame. */
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
        // A client that waits for nothing must still report the error.
        throw error;
      }
    });
    this.socket.on("close", (code, reason) => {
      this.closed = { code, reason: String(reason) };
      this.#look();
    });
    this.socket.on("error", () => {
      // Tests check the close code.
    });
    onTestFinished(() => this.socket.terminate());
  }

  /** Connects and waits for the welcome. */
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

  /** Sends a command and returns its id. */
  send<Name extends CommandName>(type: Name, { id = createId(), ...input }: Input<Name>): string {
    if (type === "message.read" && "conversation" in input) this.#reading.set(id, String(input.conversation));
    this.sendText(JSON.stringify({ type, id, ...input }));
    return id;
  }

  /** The result of a command. Rejects if the command fails. */
  async ask<Name extends CommandName>(type: Name, input: Input<Name>): Promise<Result<Name>> {
    const outcome = await this.outcome(this.send(type, input));
    if (outcome.type === "failed") throw Object.assign(new Error(outcome.error.message), { code: outcome.error.code });
    return outcome.result as Result<Name>;
  }

  /** The answer to a command; `nth` selects one if it was sent several times. */
  async outcome(id: string, nth = 1): Promise<Frame<"done"> | Frame<"failed">> {
    return this.until(() => {
      const answers = this.frames.filter(
        (frame): frame is Frame<"done"> | Frame<"failed"> =>
          (frame.type === "done" || frame.type === "failed") && frame.id === id,
      );
      return answers[nth - 1];
    });
  }

  /** The first frame of a type that fits. */
  frame<Type extends ServerFrame["type"]>(type: Type, fits: (frame: Frame<Type>) => boolean = () => true) {
    return this.until(() =>
      this.frames.find((frame): frame is Frame<Type> => frame.type === type && fits(frame as Frame<Type>)),
    );
  }

  /** Subscribes to a conversation, with a snapshot. */
  async watch(conversation: string, leaf?: string): Promise<Mirror> {
    await this.ask("feed.subscribe", { conversation, ...(leaf === undefined ? {} : { leaf }) });
    return this.until(() => this.mirrors.get(conversation));
  }

  /** The first feed item of a type that fits. */
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

  /** Waits for a result of `find`, which runs after each frame. Rejects after a wrong frame, or if the connection closes. */
  async until<Found>(find: () => Found | undefined | false): Promise<Found> {
    for (;;) {
      const found = find();
      if (found !== undefined && found !== false) return found;
      if (this.#wrong !== undefined) throw this.#wrong;
      if (this.closed) throw new Error(`The connection was closed: ${this.closed.code} ${this.closed.reason}`);
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  /** Unsubscribes and drops all frames, for a client that goes through many conversations. */
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
