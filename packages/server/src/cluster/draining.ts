import { setTimeout as sleep } from "node:timers/promises";
import { type ConversationState, newestLeaf, pathTo } from "@banyan/core";
import { askingRuns, isAskedIn, isEnded, type LiveRun, lastAssistantMessage } from "@banyan/core/conversation";
import type { LiveConversation } from "../desk/live/live-conversation.ts";
import type { Asked } from "./driver.ts";

/** Milliseconds between two looks whether all has ended. */
const LOOK = 50;
/** Milliseconds within which a balancer asks again, and how often it wants to hear that a server is not ready. */
const BALANCER = 10_000;
const HEARD = 2;

/**
 * How a node ends while clients work: it opens nothing any more, and what runs, what clients wait for, and the balancer that sends
 * them here have some time. A balancer asks from time to time; who left before it asked would have clients sent to nobody.
 */
export class Draining {
  #hasBegun = false;
  /** When a balancer asked last, in milliseconds of the process, and how often it heard since this began that it is over. */
  #asked = Number.NEGATIVE_INFINITY;
  #heard = 0;
  #waiting = 0;

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** A balancer asks whether clients may be sent here. */
  isReady(): boolean {
    this.#asked = performance.now();
    if (this.#hasBegun) this.#heard++;
    return !this.#hasBegun;
  }

  /** Something that a client waits for. */
  async serve<Result>(work: Promise<Result>): Promise<Result> {
    this.#waiting++;
    try {
      return await work;
    } finally {
      this.#waiting--;
    }
  }

  /** Begins, and resolves when nothing is at work, nobody waits and the balancer knows; at the latest after so many milliseconds. */
  async begin(time: number, isAtWork: () => boolean): Promise<void> {
    this.#hasBegun = true;
    const begun = performance.now();
    const knows = () => this.#heard >= HEARD || performance.now() - this.#asked > BALANCER;
    while ((isAtWork() || this.#waiting > 0 || !knows()) && performance.now() - begun < time) await sleep(LOOK);
  }
}

/** A run that is at work on a node, and will be left in the middle by it. */
export interface LeftRun {
  readonly live: LiveConversation;
  readonly run: string;
  /** The last message on its path, and the one above it. */
  readonly places: readonly (string | null)[];
}

/** Those that are at work in these conversations. What a sub-agent does is part of its agent's run. */
export function runsAtWork(conversations: readonly LiveConversation[]): LeftRun[] {
  return conversations.flatMap((live) => {
    const { state } = live.session;
    const { runs, messages } = state;
    const own = [...runs.values()].filter((run) => run.call === undefined && !isOnlyAsked(state, run));
    return own.map(({ id, leaf }) => ({ live, run: id, places: [leaf, messages.get(leaf ?? "")?.parentId ?? null] }));
  });
}

/** Whether nothing goes on in a run but that a user is asked: it waits on when its process ends, and need not be handed over. */
function isOnlyAsked(state: ConversationState, { id, leaf }: LiveRun): boolean {
  if (!state.questions.values().some((question) => askingRuns(state, question).includes(id))) return false;
  const last = lastAssistantMessage(pathTo(state, leaf));
  return !last || last.calls.every((call) => isEnded(call.status) || isAskedIn(state, call.id));
}

/** What asks another node to go on with it, once it was interrupted here. */
export function toGoOn({ live, run, places }: LeftRun): Asked {
  const { id: conversation, state } = live.session;
  const command = { type: "turn.resume" as const, id: `${run}-on`, conversation, ...placeIn(state, places) };
  return { id: `owner ${command.id}`, conversation, command, by: "owner" };
}

/** Where a run is gone on with: at the first of these that is there. An answer without a word is given up, and then it is not. */
export function placeIn(state: ConversationState, places: readonly (string | null)[]): { readonly at?: string } {
  const at = places.find((place) => place !== null && state.messages.has(place));
  return at ? { at: newestLeaf(state, at) } : {};
}
