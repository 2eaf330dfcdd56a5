import type { WebSocket } from "ws";
import type { Frame } from "../desk/live/frame.ts";
import type { Viewer } from "../desk/live/shown-item.ts";
import type { Line } from "../desk/live/subscription.ts";

/** Bytes that may wait to be sent to a client; at more, it gets nothing new until they are gone (B58). */
const FULL = 1024 * 1024;

const TEXT = { binary: false };

/** A WebSocket as the way to a client. */
export class SocketLine implements Line {
  readonly viewer: Viewer;
  readonly #socket: WebSocket;

  constructor(socket: WebSocket, viewer: Viewer) {
    this.viewer = viewer;
    this.#socket = socket;
  }

  send({ bytes }: Frame): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(bytes, TEXT);
  }

  get isFull(): boolean {
    return this.#socket.bufferedAmount > FULL;
  }

  room(): Promise<void> {
    // It stands behind everything that waits; when it is on its way, or never can be, so is the rest.
    return new Promise((resolve) => this.#socket.ping(undefined, undefined, () => resolve()));
  }
}
