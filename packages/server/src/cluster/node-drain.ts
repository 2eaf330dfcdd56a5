import { setTimeout as sleep } from "node:timers/promises";
import { type ConversationState, newestLeaf, pathTo, type Session } from "@banyan/core";
import { askingRuns, hasOpenQuestion, isEnded, type LiveRun, lastAssistantMessage } from "@banyan/core/conversation";
import type { LiveConversation } from "@banyan/desk/serving";
import type { Command } from "@banyan/protocol";
import type { NodeCommand } from "./driver.ts";

const LOOK = 50;
/** Maximum milliseconds between two requests of a load balancer, and the "not ready" answers that it needs. */
const BALANCER = 10_000;
const HEARD = 2;

/**
 * The orderly end of a node. The node accepts no new work, and gives runs, waiting clients and the load balancer some
 * time. Without this time, a balancer would send clients to the node until its next check.
 */
export class NodeDrain {
  #hasBegun = false;
  #asked = Number.NEGATIVE_INFINITY;
  #heard = 0;
  #waiting = 0;

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Answers a load balancer whether this node takes clients. */
  isReady(): boolean {
    this.#asked = performance.now();
    if (this.#hasBegun) this.#heard++;
    return !this.#hasBegun;
  }

  async serve<Result>(work: Promise<Result>): Promise<Result> {
    this.#waiting++;
    try {
      return await work;
    } finally {
      this.#waiting--;
    }
  }

  /** Starts to drain. Resolves when no run or client is left and the balancer has noticed, or after `time` milliseconds. */
  async begin(time: number, isAtWork: () => boolean): Promise<void> {
    this.#hasBegun = true;
    const begun = performance.now();
    const knows = () => this.#heard >= HEARD || performance.now() - this.#asked > BALANCER;
    while ((isAtWork() || this.#waiting > 0 || !knows()) && performance.now() - begun < time) await sleep(LOOK);
  }
}

/** A running run that this node will leave unfinished. */
export interface AbandonedRun {
  readonly live: LiveConversation;
  readonly run: string;
  /** The last message on the path of the run, and the message above it. */
  readonly parents: readonly (string | null)[];
}

/** Returns the running runs of these conversations. A sub-agent's run is part of its parent's run. */
export function runsAtWork(conversations: readonly LiveConversation[]): AbandonedRun[] {
  return conversations.flatMap((live) => {
    const { state } = live.session;
    const { runs, messages } = state;
    const own = [...runs.values()].filter((run) => run.call === undefined && !isOnlyAsked(state, run));
    return own.map(({ id, leaf }) => ({ live, run: id, parents: [leaf, messages.get(leaf ?? "")?.parentId ?? null] }));
  });
}

/** Returns whether a run only waits for a user: it keeps waiting after its process ends and needs no other node. */
function isOnlyAsked(state: ConversationState, { id, leaf }: LiveRun): boolean {
  if (!state.questions.values().some((question) => askingRuns(state, question).includes(id))) return false;
  const last = lastAssistantMessage(pathTo(state, leaf));
  return !last || last.calls.every((call) => isEnded(call.status) || hasOpenQuestion(state, call.id));
}

/** Returns the command that lets another node continue a run that was interrupted here. */
export function continueCommand({ live, run, parents }: AbandonedRun): NodeCommand {
  const { id: conversation, state } = live.session;
  const command = { type: "turn.resume" as const, id: `${run}-on`, conversation, ...continuationPoint(state, parents) };
  return { id: `owner ${command.id}`, conversation, command, by: "owner" };
}

/** Returns the first of these messages that still exists: an empty answer is removed on interruption. */
function continuationPoint(state: ConversationState, parents: readonly (string | null)[]): { readonly at?: string } {
  const at = parents.find((id) => id !== null && state.messages.has(id));
  return at ? { at: newestLeaf(state, at) } : {};
}

/**
 * Returns the command that resumes a run whose node died. The command takes effect once for each opening of the
 * conversation.
 */
export function resumeOf({ id: conversation, state, cursor }: Session, { id, leaf }: LiveRun): Command<"turn.resume"> {
  return { type: "turn.resume", id: `${id}-${cursor.epoch}`, conversation, ...continuationPoint(state, [leaf]) };
}
