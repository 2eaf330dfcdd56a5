import { type Event, isEvent, type Store, StoreError } from "@banyan/core";
import { onAbort } from "@banyan/core/hosts";
import type { LogView } from "@banyan/core/stores";
import type { LiveConversation } from "@banyan/desk/serving";
import type { SharedDatabase } from "@banyan/store/postgres";
import type { DriverPosition, LogStep } from "./driver.ts";

/** Milliseconds between two reads of a log that another node writes, or this node writes, and for a node's answer. */
const LOOK = 1_000;
const LOOK_HERE = 10_000;
const ANSWER = 2_000;
/** Milliseconds until a node that did not answer is asked a second time; after that, the node counts as gone. */
const AGAIN = 300;
/** Milliseconds between two reads for an event that is about to enter the log. */
const SOON = 20;

/** The functions of a node that `TurnFollower` uses. */
export interface FollowingOptions {
  readonly store: Pick<Store, "view">;
  readonly shared: Pick<SharedDatabase, "ownerOf" | "ends">;
  ifOpen(conversation: string): LiveConversation | undefined;
  /** Returns whether work is about to begin in an open conversation, or the next turn follows. */
  isBetweenTurns(live: LiveConversation): boolean;
  takeOver(conversation: string): Promise<void>;
  /** Resolves when another node has written to a conversation, or after `wait` milliseconds. */
  bell(conversation: string, wait: number): Promise<void>;
}

/** Follows turns through the log on any node, and takes them over when their node is gone. */
export class TurnFollower {
  readonly #options: FollowingOptions;
  readonly #asking = new Map<string, Promise<boolean>>();

  constructor(options: FollowingOptions) {
    this.#options = options;
  }

  /** Returns the number of a conversation's last event; 0 if there is none. Rejects with `StoreError`. */
  async last(conversation: string): Promise<number> {
    const view = await this.#view(conversation);
    await view?.close();
    return view?.seq ?? 0;
  }

  /** Waits for the first step after a position. Rejects with `StoreError`, and with the signal's reason. */
  async next(position: DriverPosition, signal: AbortSignal): Promise<LogStep> {
    const { conversation, runs } = position;
    const { ifOpen, isBetweenTurns, bell } = this.#options;
    let isTakenOver = false;
    let isOnItsWay = false;
    for (let hasLooked = false; ; hasLooked = true) {
      signal.throwIfAborted();
      const live = ifOpen(conversation);
      // Listen before the read, so that no event is missed.
      const news: Promise<boolean | void> = live
        ? untilStep(live, isOnItsWay ? SOON : LOOK_HERE, signal)
        : bell(conversation, LOOK);
      const [step, seq] = await this.#behind(position);
      if (step) return step;
      const rested = { did: "rested", seq } as const;
      if (live ? live.session.state.runs.size > 0 || isBetweenTurns(live) : !(await this.#isNobodys(conversation))) {
        // On another node, the next turn may be about to begin.
        if (!live && runs.length === 0 && hasLooked) return rested;
        isOnItsWay ||= (await news) === true;
        continue;
      }
      if (runs.length === 0 || isTakenOver) return rested;
      await this.#options.takeOver(conversation);
      isTakenOver = true;
    }
  }

  async #behind({ conversation, after }: DriverPosition): Promise<readonly [step: LogStep | undefined, seq: number]> {
    const view = await this.#view(conversation);
    if (!view) return [{ did: "rested", seq: after }, after];
    try {
      for await (const events of view.read(after))
        for (const event of events) {
          const step = logStep(event);
          if (step) return [step, step.seq];
        }
      return [undefined, view.seq];
    } finally {
      await view.close();
    }
  }

  async #view(conversation: string): Promise<LogView | undefined> {
    try {
      return await this.#options.store.view(conversation);
    } catch (error) {
      if (error instanceof StoreError && error.code === "not-found") return undefined;
      throw error;
    }
  }

  /** Returns whether a conversation has no owner. An owner that does not answer loses it: the store refuses its later writes. */
  async #isNobodys(conversation: string): Promise<boolean> {
    const { shared } = this.#options;
    const owner = await shared.ownerOf(conversation);
    if (!owner) return true;
    if (owner.isHere || owner.address === undefined) return false;
    const { node, address } = owner;
    const asking = this.#asking.get(node) ?? answersAt(address).finally(() => this.#asking.delete(node));
    this.#asking.set(node, asking);
    if (await asking) return false;
    await shared.ends(node);
    return true;
  }
}

/** Resolves with `true` when a step is about to enter the log, and with `false` after `wait` milliseconds. */
function untilStep({ session }: LiveConversation, wait: number, signal: AbortSignal): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const isOver = () => resolve(false);
  const timer = setTimeout(isOver, wait).unref();
  const listening = onAbort(signal, isOver);
  const unlisten = session.listen({
    items: (items) => items.some((item) => isEvent(item) && logStep(item)) && resolve(true),
    ended: isOver,
  });
  return promise.finally(() => {
    clearTimeout(timer);
    listening[Symbol.dispose]();
    unlisten();
  });
}

async function answersAt(address: string): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    try {
      const answer = await fetch(new URL("/healthz", address), { signal: AbortSignal.timeout(ANSWER) });
      await answer.body?.cancel();
      return true;
    } catch {
      if (tries === 2) return false;
      await new Promise((resolve) => setTimeout(resolve, AGAIN));
    }
  }
}

function logStep(event: Event): LogStep | undefined {
  const { seq } = event;
  switch (event.type) {
    case "run.started":
      return event.call === undefined ? { did: "began", of: event.run, seq } : undefined;
    case "run.ended":
      return { did: "ended", of: event.run, seq };
    case "message.completed":
      return { did: "model call", of: event.message, seq };
    case "call.completed":
    case "call.failed":
    case "call.denied":
    case "call.cancelled":
      return { did: "tool call", of: event.call, seq };
  }
  return undefined;
}
