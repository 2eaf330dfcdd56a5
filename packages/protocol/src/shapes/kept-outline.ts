import type { ConversationState, Message } from "@banyan/core/conversation";
import { outlineNode, type SnapshotOf, snapshotRest, TextPool } from "./outline.ts";

/** Messages that are encoded together. */
const CHUNK = 256;

/**
 * The encoded outline of a tree, which the next snapshot reuses. A snapshot encodes again only the chunks that contain
 * new or changed messages.
 * @example
 * const outline = new KeptOutline();
 * const bytes = outline.snapshot(session.state, { cursor: session.cursor });
 */
export class KeptOutline {
  readonly #encoder = new TextEncoder();
  readonly #names = new TextPool();
  /** The position of each message in the outline. */
  readonly #places = new Map<string, number>();
  /** The nodes as JSON, encoded in UTF-8 and separated by commas. */
  readonly #chunks: (Uint8Array | undefined)[] = [];

  /** Call after each change of a message that a snapshot contains. */
  changed(message: string): void {
    const place = this.#places.get(message);
    if (place !== undefined) this.#chunks[Math.floor(place / CHUNK)] = undefined;
  }

  /** Returns the same snapshot as `snapshotOf`, as JSON in UTF-8: these pieces without anything between them. */
  snapshot(state: ConversationState, of: SnapshotOf): Uint8Array[] {
    const messages = [...state.messages.values()];
    if (!this.#isBeginningOf(messages)) this.#forgetAll();
    for (let place = this.#places.size; place < messages.length; place++) {
      this.#places.set((messages[place] as Message).id, place);
      this.#chunks[Math.floor(place / CHUNK)] = undefined;
    }
    const nodes = this.#chunks.map((chunk, index) => chunk ?? this.#encode(messages, index));
    const comma = this.#encoder.encode(",");
    const rest = JSON.stringify(snapshotRest(state, of)).slice(0, -1);
    return [
      this.#encoder.encode(`${rest},"names":${JSON.stringify(this.#names.all)},"nodes":[`),
      ...nodes.flatMap((chunk, index) => (index === 0 ? [chunk] : [comma, chunk])),
      this.#encoder.encode("]}"),
    ];
  }

  #encode(messages: readonly Message[], index: number): Uint8Array {
    const chunk = messages.slice(index * CHUNK, (index + 1) * CHUNK);
    const nodes = chunk.map((message) => outlineNode(message, this.#places, this.#names));
    const bytes = this.#encoder.encode(JSON.stringify(nodes).slice(1, -1));
    this.#chunks[index] = bytes;
    return bytes;
  }

  /** False after a message was abandoned or forgotten: later messages then have other indexes. */
  #isBeginningOf(messages: readonly Message[]): boolean {
    if (messages.length < this.#places.size) return false;
    for (let place = 0; place < this.#places.size; place++)
      if (this.#places.get((messages[place] as Message).id) !== place) return false;
    return true;
  }

  #forgetAll(): void {
    this.#places.clear();
    this.#names.clear();
    this.#chunks.length = 0;
  }
}
