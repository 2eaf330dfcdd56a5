import { type ConversationState, type FeedItem, type Message, pathTo } from "@banyan/core/conversation";
import { Mirror, type Node, type ServerFrame, type Snapshot } from "@banyan/protocol";
import type { Connection } from "../connection/connection.ts";
import { ViewedBranches } from "./viewed.ts";

/** Messages that are asked for at once. */
const AT_ONCE = 200;

/** How a conversation stands on this page. */
export type Standing = "loading" | "live" | "removed" | "broken" | "missing";

/**
 * A conversation as this page follows it: a mirror of the server's, told to whoever shows a part of it. Views subscribe to
 * a message, or to the tree as a whole; what streams wakes only those that show it, at most once per frame.
 */
export class LiveConversation {
  readonly id: string;
  /** Of the branch that is first in view: its messages come whole, also when the connection is there only later. */
  readonly #leaf: string | undefined;
  readonly #connection: Connection;
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #versions = new Map<string, number>();
  readonly #changed = new Set<string>();
  readonly #asked = new Set<string>();
  readonly #hearers = new Set<(items: readonly FeedItem[]) => void>();
  readonly #viewed = new ViewedBranches();
  #running: { readonly version: number; readonly messages: ReadonlySet<string> } | undefined;
  #timer: number | undefined;
  #told = 0;
  #mirror: Mirror | undefined;
  #standing: Standing = "loading";
  #problem: string | undefined;

  constructor(id: string, connection: Connection, leaf?: string) {
    this.id = id;
    this.#leaf = leaf;
    this.#connection = connection;
  }

  get standing(): Standing {
    return this.#standing;
  }

  /** Why it is removed, broken or missing, in words. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** The tree; nothing while it is loading. */
  get state(): ConversationState | undefined {
    return this.#mirror?.state;
  }

  /** The ends of branches that a process left in the middle when it stopped, and nobody has gone on with. */
  get leftOpen(): readonly string[] {
    const { state, interrupted = [] } = this.#mirror ?? {};
    if (!state) return [];
    const ends = interrupted.flatMap(({ leaf, call }) => (leaf === null || call !== undefined ? [] : [leaf]));
    const isWorkedOn = (end: string) => state.runs.values().some(({ leaf }) => leaf === end);
    return ends.filter((end) => !state.children.has(end) && !isWorkedOn(end));
  }

  /** A message that has been read; asks for it otherwise. */
  message(id: string): Message | undefined {
    if (this.#mirror?.outline(id)) return void this.read([id]);
    return this.#mirror?.state.messages.get(id);
  }

  /** What is known of a message that has not been read. */
  outline(id: string): Node | undefined {
    return this.#mirror?.outline(id);
  }

  /** The ids from the root to a message. */
  path(leaf: string | null): readonly string[] {
    return this.#mirror ? pathTo(this.#mirror.state, leaf).map(({ id }) => id) : [];
  }

  /** The messages on whose branches something runs, those that launched a sub-agent included (W11). */
  get running(): ReadonlySet<string> {
    const version = this.version(TREE);
    if (this.#running?.version === version) return this.#running.messages;
    const messages = new Set<string>();
    const { state } = this;
    for (const { leaf } of state?.runs.values() ?? []) {
      for (let at = leaf; state && at !== null && !messages.has(at); ) {
        messages.add(at);
        const message = state.messages.get(at);
        at = message?.parentId ?? (message?.call === undefined ? null : (state.calls.get(message.call) ?? null));
      }
    }
    this.#running = { version, messages };
    return messages;
  }

  /** Notes that the branch of a leaf is in view. */
  noteView(leaf: string): void {
    if (this.state) this.#viewed.note(this.state, leaf);
  }

  /** The end of the branch that was last in view below a message. */
  leafBelow(message: string): string {
    return this.state ? this.#viewed.leafBelow(this.state, message) : message;
  }

  /** Calls back with what the feed brings, as it comes; not with what a snapshot holds. */
  hear(hearer: (items: readonly FeedItem[]) => void): () => void {
    this.#hearers.add(hearer);
    return () => this.#hearers.delete(hearer);
  }

  /** Subscribes to the feed, from where this page stands. */
  follow(): void {
    const from = this.#mirror?.cursor;
    const leaf = this.#leaf;
    const wanted = { conversation: this.id, ...(from ? { from } : {}), ...(leaf === undefined ? {} : { leaf }) };
    this.#connection.ask("feed.subscribe", wanted).then(
      // Also without a snapshot, where the feed goes on from where this page stood.
      () => this.#stand("live"),
      (error: unknown) => {
        if (isNotFound(error)) this.#stand("removed", "There is no such conversation here. It may have been removed.");
        else this.#stand("missing", error instanceof Error ? error.message : String(error));
      },
    );
  }

  leave(): void {
    this.#connection.ask("feed.unsubscribe", { conversation: this.id }).catch(() => {
      // Nothing was followed: that is what was wanted.
    });
  }

  /** Asks for messages that have not been read. */
  read(messages: readonly string[]): void {
    const wanted = (this.#mirror?.unread(messages) ?? []).filter((id) => !this.#asked.has(id)).slice(0, AT_ONCE);
    if (wanted.length === 0) return;
    for (const id of wanted) this.#asked.add(id);
    this.#connection.ask("message.read", { conversation: this.id, messages: wanted }).then(
      ({ messages: read }) => {
        for (const id of wanted) this.#asked.delete(id);
        this.#mirror?.fill(read);
        for (const { id } of read) this.#touch(id);
        this.#touch(TREE);
        // An answer may hold fewer than asked for.
        if (read.length > 0) this.read(wanted);
      },
      () => {
        for (const id of wanted) this.#asked.delete(id);
      },
    );
  }

  /** Takes a frame of the server that is about this conversation. */
  take(frame: ServerFrame): void {
    switch (frame.type) {
      case "snapshot":
        return this.#begin(frame);
      case "feed":
        return this.#items(frame.items);
      case "ended":
        return this.#stand(frame.reason, frame.message);
      default:
    }
  }

  /** Calls back when the thing named has changed: a message by its id, or `TREE`. */
  subscribe(what: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(what) ?? new Set();
    this.#listeners.set(what, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  /** Grows with each change of what is named. */
  version(what: string): number {
    return this.#versions.get(what) ?? 0;
  }

  #begin(snapshot: Snapshot): void {
    this.#mirror = new Mirror(snapshot);
    this.#standing = "live";
    this.#problem = undefined;
    for (const what of this.#listeners.keys()) this.#touch(what);
    this.#touch(TREE);
  }

  #items(items: readonly FeedItem[]): void {
    for (const [index, change] of (this.#mirror?.take(items) ?? []).entries()) {
      if (change.message !== undefined) this.#touch(change.message);
      // What streams changes one message and nothing of the tree.
      if (!items[index]?.type.endsWith(".delta")) this.#touch(TREE);
    }
    for (const hearer of this.#hearers) hearer(items);
  }

  #stand(standing: Standing, problem?: string): void {
    if (standing === this.#standing && problem === this.#problem) return;
    this.#standing = standing;
    this.#problem = problem;
    this.#touch(TREE);
  }

  /** The first change after a pause is told at once, further ones together. */
  #touch(what: string): void {
    this.#changed.add(what);
    // Animation frames stand still in a page that is not seen; a timer does not.
    this.#timer ??= window.setTimeout(() => this.#tell(), Math.max(0, this.#told + PAUSE - performance.now()));
  }

  #tell(): void {
    this.#timer = undefined;
    this.#told = performance.now();
    const changed = [...this.#changed];
    this.#changed.clear();
    for (const what of changed) {
      this.#versions.set(what, this.version(what) + 1);
      for (const listener of this.#listeners.get(what) ?? []) listener();
    }
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "not-found";
}

/** The tree as a whole: what is there, what runs, what waits. */
export const TREE = "tree";

/** Milliseconds between two times at which views are told (W21: at most one commit per 50 ms). */
const PAUSE = 50;
