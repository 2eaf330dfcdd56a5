import { type Agent, type Chat, resume, type Session, say, type Turn } from "@banyan/core";
import { addCost, addUsage, noUsage } from "@banyan/core/conversation";
import type { Spending } from "./record.ts";

/** What a branch came to, turn after turn. */
export interface Taken {
  /** All was said, and each turn ended by itself, or at a limit of its own. */
  readonly isWhole: boolean;
  readonly last: Turn | undefined;
  /** The message at the end of the branch. */
  readonly leaf: string;
  readonly steps: number;
  readonly seconds: number;
  readonly spent: Spending;
}

export const nothingSpent: Spending = Object.freeze({ usage: noUsage, cost: 0 });

/** Both together; the cost is unknown when one of them is. */
export function sumOf(a: Spending, b: Spending): Spending {
  return { usage: addUsage(a.usage, b.usage), cost: addCost(a.cost, b.cost) };
}

/** Where turns are taken, and what ends them. */
export interface BranchToAnswer {
  readonly session: Session;
  readonly agent: Agent;
  /** The message that was said first, and that nobody has answered. */
  readonly root: string;
  /** What is said after it, each when the turn before has its answer. */
  readonly then?: readonly string[];
  /** Interrupts the turn under way. */
  readonly signal: AbortSignal;
}

/**
 * Has an agent answer a message, and what is said then, on one branch. An agent that another one hands the conversation to is
 * counted too. A turn that has no answer is the last one. Rejects as turns do that cannot begin.
 */
export async function turnsOn({ session, agent, root, then = [], signal }: BranchToAnswer): Promise<Taken> {
  const turns: Turn[] = [];
  let leaf = root;
  const told = watched(agent, (turn, end) => {
    turns.push(turn);
    leaf = end ?? leaf;
  });
  const from = performance.now();
  let isWhole = true;
  for (const said of [undefined, ...then]) {
    const before = turns.length;
    await followed(told.chat(said === undefined ? resume() : say(said), { session, at: leaf }), signal);
    const { reason } = turns.at(-1) ?? {};
    // A turn that was left, nobody is told of.
    isWhole = turns.length > before && reason !== "failed" && reason !== "interrupted";
    if (!isWhole) break;
  }
  return {
    ...{ isWhole, leaf, last: turns.at(-1) },
    steps: turns.reduce((sum, { steps }) => sum + steps, 0),
    seconds: (performance.now() - from) / 1_000,
    spent: turns.reduce(sumOf, nothingSpent),
  };
}

/** Reads a chat to its end. Leaving it interrupts the turn, and waits until that has ended. */
async function followed(chat: Chat, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const items = chat[Symbol.asyncIterator]();
  let left: Promise<unknown> | undefined;
  const leave = () => {
    left = items.return?.();
  };
  signal.addEventListener("abort", leave, { once: true });
  try {
    for await (const _ of items);
    await left;
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

/** The agent, and whoever it hands the conversation to, with somebody who is told of each turn. */
function watched(agent: Agent, told: (turn: Turn, leaf: string | null) => void): Agent {
  const { onTurn } = agent.options;
  return agent.with({
    async onTurn(conversation, by, turn) {
      const next = await onTurn?.(conversation, by, turn);
      // A turn that a hook adds counts what this one took.
      if (!next?.options.sharesLimits) told(turn, conversation.leaf);
      return next && next.agent !== by ? watched(next.agent, told).chat(next.directive, next.options) : next;
    },
  });
}
