import type { Client, ClientError, WatchedConversation, WatchState } from "@banyan/client";
import {
  type ConversationState,
  type FeedItem,
  isDelta,
  type LiveRun,
  type Message,
  pathTo,
  textOf,
} from "@banyan/core/conversation";
import type { NarrowedRule, OutlineNode } from "@banyan/protocol";
import { t } from "../phrases/phrases.ts";
import { ViewedBranches } from "./viewed-branches.ts";

/**
 * A conversation that the page follows, with change events for its views. Views subscribe to a message or to the whole
 * tree. Streaming text updates only the views of its message, at most once per `PAUSE`.
 */
export class PageConversation {
  readonly id: string;
  readonly #client: Client;
  readonly #watched: WatchedConversation;
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #versions = new Map<string, number>();
  readonly #changed = new Set<string>();
  readonly #viewed = new ViewedBranches();
  /** Unfinished answers. They are kept here because the tree drops a discarded answer at once. */
  readonly #underWay = new Map<string, Message>();
  #givenUp: readonly DiscardedAnswer[] = [];
  #wait: ModelWaiting | undefined;
  #running: { readonly version: number; readonly messages: ReadonlySet<string> } | undefined;
  #timer: number | undefined;
  #told = 0;

  /** The branch of `leaf` is first in view. Its messages arrive complete, even if the connection opens later. */
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
        // Streaming text changes one message, but not the tree.
        if (!isDelta(item)) this.#touch(TREE);
      },
      read: (messages) => {
        for (const { id } of messages) this.#touch(id);
        this.#touch(TREE);
      },
      stands: () => this.#touch(TREE),
    });
  }

  get standing(): WatchState {
    return this.#watched.standing;
  }

  get problem(): Pick<ClientError, "code" | "message"> | undefined {
    const { problem } = this.#watched;
    if (problem?.code !== "not-found") return problem;
    return { code: problem.code, message: t("Conversation not found. It may have been removed.") };
  }

  get state(): ConversationState | undefined {
    return this.#watched.tree?.state;
  }

  /** The ends of branches whose process stopped during a turn, and that no run has continued. */
  get leftOpen(): readonly string[] {
    const { state, interrupted = [] } = this.#watched.tree ?? {};
    if (!state) return [];
    const ends = interrupted.flatMap(({ leaf, call }) => (leaf === null || call !== undefined ? [] : [leaf]));
    const isWorkedOn = (end: string) => state.runs.values().some(({ leaf }) => leaf === end);
    return ends.filter((end) => !state.children.has(end) && !isWorkedOn(end));
  }

  /** The conversation's rules that now allow less than when the user allowed them, without revoked ones. */
  get narrowed(): readonly NarrowedRule[] {
    const { state, narrowed = [] } = this.#watched.tree ?? {};
    return narrowed.filter(({ rule }) => state?.allowed.includes(rule));
  }

  /** Returns a message that has been read; requests it if it has not. */
  message(id: string): Message | undefined {
    if (this.#watched.tree?.outline(id)) {
      this.read([id]);
      return undefined;
    }
    return this.#watched.tree?.state.messages.get(id);
  }

  outline(id: string): OutlineNode | undefined {
    return this.#watched.tree?.outline(id);
  }

  path(leaf: string | null): readonly string[] {
    return this.#watched.tree ? pathTo(this.#watched.tree.state, leaf).map(({ id }) => id) : [];
  }

  /** The answers that were discarded while the page watched, the oldest first (W49). */
  get givenUp(): readonly DiscardedAnswer[] {
    return this.#givenUp;
  }

  get wait(): ModelWaiting | undefined {
    return this.#wait;
  }

  /** The messages on branches with a run, including those that launched a sub-agent (W11). */
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

  noteView(leaf: string): void {
    if (this.state) this.#viewed.note(this.state, leaf);
  }

  /** The end of the branch below a message that was last in view. */
  leafBelow(message: string): string {
    return this.state ? this.#viewed.leafBelow(this.state, message) : message;
  }

  /** Calls `hearer` for each feed item as it arrives, not for items of a snapshot. */
  hear(hearer: (item: FeedItem) => void): () => void {
    return this.#watched.follow({ item: hearer });
  }

  again(): void {
    this.#client.watch(this.id);
  }

  leave(): void {
    this.#client.leave(this.#watched).catch(() => {
      // No subscription existed: nothing to end.
    });
  }

  read(messages: readonly string[]): void {
    this.#watched.read(messages).catch(() => {
      // The view requests them again.
    });
  }

  /** Calls `listener` when the given thing changes: a message by its id, or `TREE`. */
  subscribe(what: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(what) ?? new Set();
    this.#listeners.set(what, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  /** Resolves when `holds` returns true, now or after a change of the tree. */
  async change(holds: () => boolean): Promise<void> {
    if (holds()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = this.subscribe(TREE, () => holds() && resolve());
    await promise;
    end();
  }

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

  /** Reports the first change after a pause at once, and later ones together. */
  #touch(what: string): void {
    this.#changed.add(what);
    // Animation frames stop in a hidden page; timers do not.
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

/** The text of a discarded answer, and the message that it answered. */
export interface DiscardedAnswer {
  readonly id: string;
  readonly parentId: string | null;
  readonly text: string;
}

/** A feed item for a model call that is retried, or that has received nothing for long. */
export type ModelWaiting = Extract<FeedItem, { type: "model.retrying" | "model.waiting" }>;

function endsWait(item: FeedItem, run: string): boolean {
  if (item.type === "message.started") return item.run === run;
  return item.type.endsWith(".delta") || item.type === "message.completed" || item.type === "run.ended";
}

/** Names the tree as a whole (its messages, runs and questions) for `subscribe` and `version`. */
export const TREE = "tree";

/** Milliseconds between two updates of the views (W21: at most one commit per 50 ms). */
const PAUSE = 50;

/** Returns the runs that have not ended: those that work, and those that wait for a user since a server restart. */
export function openRuns({ runs, waiting }: ConversationState): readonly LiveRun[] {
  return [...runs.values(), ...waiting.values()];
}
