import type { Client, ClientError, Standing, Watched } from "@banyan/client";
import {
  type ConversationState,
  type FeedItem,
  isDelta,
  type LiveRun,
  type Message,
  pathTo,
  textOf,
} from "@banyan/core/conversation";
import type { NarrowedRule, Node } from "@banyan/protocol";
import { t } from "../phrases/phrases.ts";
import { ViewedBranches } from "./viewed.ts";

/**
 * A conversation as this page follows it, told to whoever shows a part of it. Views subscribe to
 * a message, or to the tree as a whole; what streams wakes only those that show it, at most once per frame.
 */
export class LiveConversation {
  readonly id: string;
  readonly #client: Client;
  readonly #watched: Watched;
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #versions = new Map<string, number>();
  readonly #changed = new Set<string>();
  readonly #viewed = new ViewedBranches();
  /** Answers under way: the tree forgets one as soon as it is given up. */
  readonly #underWay = new Map<string, Message>();
  #givenUp: readonly GivenUp[] = [];
  #wait: ModelWaiting | undefined;
  #running: { readonly version: number; readonly messages: ReadonlySet<string> } | undefined;
  #timer: number | undefined;
  #told = 0;

  /** Of the branch of `leaf`, that is first in view, the messages come whole, also when the connection is there only later. */
  constructor(id: string, client: Client, leaf?: string) {
    this.id = id;
    this.#client = client;
    this.#watched = client.watch(id, leaf);
    this.#watched.follow({
      renewed: () => {
        for (const { leaf } of this.state?.runs.values() ?? []) this.#noteUnderWay(leaf);
        for (const what of this.#listeners.keys()) this.#touch(what);
      },
      item: (item, { message }) => {
        if (message !== undefined) this.#touch(message);
        this.#noteWait(item);
        if (item.type === "message.started") this.#noteUnderWay(item.message);
        if (item.type === "message.completed") this.#underWay.delete(item.message);
        if (item.type === "message.abandoned") this.#noteGivenUp(item.message);
        // What streams changes one message and nothing of the tree.
        if (!isDelta(item)) this.#touch(TREE);
      },
      read: (messages) => {
        for (const { id } of messages) this.#touch(id);
        this.#touch(TREE);
      },
      stands: () => this.#touch(TREE),
    });
  }

  get standing(): Standing {
    return this.#watched.standing;
  }

  /** Why it is removed, broken or missing. */
  get problem(): Pick<ClientError, "code" | "message"> | undefined {
    const { problem } = this.#watched;
    if (problem?.code !== "not-found") return problem;
    return { code: problem.code, message: t("Conversation not found. It may have been removed.") };
  }

  /** The tree; nothing while it is loading. */
  get state(): ConversationState | undefined {
    return this.#watched.tree?.state;
  }

  /** The ends of branches that a process left in the middle when it stopped, and nobody has gone on with. */
  get leftOpen(): readonly string[] {
    const { state, interrupted = [] } = this.#watched.tree ?? {};
    if (!state) return [];
    const ends = interrupted.flatMap(({ leaf, call }) => (leaf === null || call !== undefined ? [] : [leaf]));
    const isWorkedOn = (end: string) => state.runs.values().some(({ leaf }) => leaf === end);
    return ends.filter((end) => !state.children.has(end) && !isWorkedOn(end));
  }

  /** The rules of the conversation that allow less than when the user allowed them, and were not revoked since. */
  get narrowed(): readonly NarrowedRule[] {
    const { state, narrowed = [] } = this.#watched.tree ?? {};
    return narrowed.filter(({ rule }) => state?.allowed.includes(rule));
  }

  /** A message that has been read; asks for it otherwise. */
  message(id: string): Message | undefined {
    if (this.#watched.tree?.outline(id)) {
      this.read([id]);
      return undefined;
    }
    return this.#watched.tree?.state.messages.get(id);
  }

  /** What is known of a message that has not been read. */
  outline(id: string): Node | undefined {
    return this.#watched.tree?.outline(id);
  }

  /** The ids from the root to a message. */
  path(leaf: string | null): readonly string[] {
    return this.#watched.tree ? pathTo(this.#watched.tree.state, leaf).map(({ id }) => id) : [];
  }

  /** The answers that were given up while this page looked on, the oldest first (W49). */
  get givenUp(): readonly GivenUp[] {
    return this.#givenUp;
  }

  /** Why nothing comes from a model at the moment. */
  get wait(): ModelWaiting | undefined {
    return this.#wait;
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
  hear(hearer: (item: FeedItem) => void): () => void {
    return this.#watched.follow({ item: hearer });
  }

  /** Asks for it again, where it could not be followed. */
  again(): void {
    this.#client.watch(this.id);
  }

  leave(): void {
    this.#client.leave(this.#watched).catch(() => {
      // Nothing was followed: that is what was wanted.
    });
  }

  /** Asks for messages that have not been read. */
  read(messages: readonly string[]): void {
    this.#watched.read(messages).catch(() => {
      // Whoever shows them asks again.
    });
  }

  /** Calls back when the thing named has changed: a message by its id, or `TREE`. */
  subscribe(what: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(what) ?? new Set();
    this.#listeners.set(what, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  /** Resolves when something holds of it: now, or after a change of the tree. */
  async change(holds: () => boolean): Promise<void> {
    if (holds()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = this.subscribe(TREE, () => holds() && resolve());
    await promise;
    end();
  }

  /** Grows with each change of what is named. */
  version(what: string): number {
    return this.#versions.get(what) ?? 0;
  }

  #noteUnderWay(id: string | null): void {
    const message = id === null ? undefined : this.state?.messages.get(id);
    if (message?.role === "assistant" && message.finish === undefined) this.#underWay.set(message.id, message);
  }

  #noteGivenUp(id: string): void {
    const answer = this.#underWay.get(id);
    this.#underWay.delete(id);
    const text = answer && textOf(answer).trim();
    if (answer && text) this.#givenUp = [...this.#givenUp, { id, parentId: answer.parentId, text }];
  }

  #noteWait(item: FeedItem): void {
    if (item.type === "model.retrying" || item.type === "model.waiting") this.#wait = item;
    else if (this.#wait === undefined || !endsWait(item, this.#wait.run)) return;
    else this.#wait = undefined;
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

/** What was written of an answer that was given up, and the message that it answered. */
export interface GivenUp {
  readonly id: string;
  readonly parentId: string | null;
  readonly text: string;
}

/** A model is asked again, or says nothing for long. */
export type ModelWaiting = Extract<FeedItem, { type: "model.retrying" | "model.waiting" }>;

/** Whether the model has gone on, or nobody waits for it any more. */
function endsWait(item: FeedItem, run: string): boolean {
  if (item.type === "message.started") return item.run === run;
  return item.type.endsWith(".delta") || item.type === "message.completed" || item.type === "run.ended";
}

/** The tree as a whole: what is there, what runs, what waits. */
export const TREE = "tree";

/** Milliseconds between two times at which views are told (W21: at most one commit per 50 ms). */
const PAUSE = 50;

/** The runs that have not ended: those that work, and those that wait for a user since the end of a server. */
export function openRuns({ runs, waiting }: ConversationState): readonly LiveRun[] {
  return [...runs.values(), ...waiting.values()];
}
