import type { Cursor } from "@banyan/core";
import type { ClientConnection, ClientFrame, FeedSubscription, FeedViewer, Watchable } from "@banyan/desk/serving";

/** Bytes that may wait in a connection before it counts as full. */
const FULL = 1024 * 1024;

const SIGN_OF_LIFE = 15_000;

/**
 * Sends the feed of a conversation as server-sent events
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html). Each event contains the frame that a socket would
 * get. The event's id is the feed position after the frame, so that a browser resumes by itself.
 */
export class EventStream implements ClientConnection {
  readonly viewer: FeedViewer;
  readonly body: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  readonly #waiting: (() => void)[] = [];
  #watched: { readonly live: Watchable; readonly subscription: FeedSubscription } | undefined;
  readonly #alive: NodeJS.Timeout;
  readonly #onClose: () => void;

  constructor(viewer: FeedViewer, onClose: () => void) {
    this.viewer = viewer;
    this.#onClose = onClose;
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#makeRoom(),
        cancel: () => this.close(),
      },
      { highWaterMark: FULL, size: (chunk) => chunk.byteLength },
    );
    viewer.only?.ended.addEventListener("abort", () => this.close(), { once: true });
    this.#alive = setInterval(() => this.#write(": alive\n\n"), SIGN_OF_LIFE).unref();
  }

  /** Starts the feed. Rejects if the conversation cannot be watched. */
  async watch(live: Watchable, from: Cursor | undefined, leaf: string | undefined): Promise<void> {
    const subscription = await live.subscribe(this, from, leaf);
    if (this.#controller) this.#watched = { live, subscription };
    else live.unsubscribe(subscription);
  }

  send({ bytes }: ClientFrame, at?: Cursor): void {
    const id = at ? `id: ${at.epoch}.${at.seq}.${at.offset}\n` : "";
    this.#write(`${id}data: ${bytes.toString("utf8")}\n\n`);
  }

  get isFull(): boolean {
    return (this.#controller?.desiredSize ?? 1) <= 0;
  }

  room(): Promise<void> {
    return this.#controller && this.isFull ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve();
  }

  close(): void {
    clearInterval(this.#alive);
    const controller = this.#controller;
    this.#controller = undefined;
    this.#watched?.live.unsubscribe(this.#watched.subscription);
    this.#watched = undefined;
    this.#makeRoom();
    this.#onClose();
    try {
      controller?.close();
    } catch {
      // The reader has already cancelled the stream.
    }
  }

  #write(text: string): void {
    this.#controller?.enqueue(new TextEncoder().encode(text));
  }

  #makeRoom(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** Matches a feed position as the id of an event: `epoch.seq.offset`. */
export const PLACE_FORM = /^[0-9]{1,15}\.[0-9]{1,15}\.[0-9]{1,15}$/;

/** Parses a feed position; `undefined` for any other text. */
export function cursorFrom(text: string): Cursor | undefined {
  if (!PLACE_FORM.test(text)) return undefined;
  const [epoch = 0, seq = 0, offset = 0] = text.split(".").map(Number);
  return { epoch, seq, offset };
}
