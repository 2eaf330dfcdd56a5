import { Agent, type Chat, resume, type Session, say, type Turn } from "@banyan/core";
import { addCost, addUsage, noUsage } from "@banyan/core/conversation";
import { onAbort } from "@banyan/core/hosts";
import type { EvaluationCost } from "./record.ts";

/** The outcome of a branch's turns. */
export interface BranchOutcome {
  /** All messages were sent, and each turn ended by itself or at a limit of its own. */
  readonly isWhole: boolean;
  readonly last: Turn | undefined;
  /** The message at the end of the branch. */
  readonly leaf: string;
  readonly steps: number;
  readonly seconds: number;
  readonly spent: EvaluationCost;
}

export const nothingSpent: EvaluationCost = Object.freeze({ usage: noUsage, cost: 0 });

/** The sum; its cost is unknown if either cost is. */
export function addCosts(a: EvaluationCost, b: EvaluationCost): EvaluationCost {
  return { usage: addUsage(a.usage, b.usage), cost: addCost(a.cost, b.cost) };
}

/** A branch to answer, and the signal that interrupts it. */
export interface BranchToAnswer {
  readonly session: Session;
  readonly agent: Agent;
  /** The first message of the branch, still without an answer. */
  readonly root: string;
  /** Later messages. Each is sent when the previous turn has its answer. */
  readonly then?: readonly string[];
  /** Interrupts the running turn. */
  readonly signal: AbortSignal;
}

/**
 * Lets an agent answer a message and the later messages on one branch. Also counts agents that it hands the conversation to.
 * Stops after a turn without an answer. Rejects as turns do that cannot start.
 */
export async function turnsOn({ session, agent, root, then = [], signal }: BranchToAnswer): Promise<BranchOutcome> {
  const turns: Turn[] = [];
  let leaf = root;
  const told = withTurnListener(agent, (turn, end) => {
    turns.push(turn);
    leaf = end ?? leaf;
  });
  const from = performance.now();
  let isWhole = true;
  for (const said of [undefined, ...then]) {
    const before = turns.length;
    await followed(told.chat(said === undefined ? resume() : say(said), { session, at: leaf }), signal);
    const { reason } = turns.at(-1) ?? {};
    // An interrupted turn does not call `onTurn`.
    isWhole = turns.length > before && reason !== "failed" && reason !== "interrupted";
    if (!isWhole) break;
  }
  return {
    isWhole,
    leaf,
    last: turns.at(-1),
    steps: turns.reduce((sum, { steps }) => sum + steps, 0),
    seconds: (performance.now() - from) / 1_000,
    spent: turns.reduce(addCosts, nothingSpent),
  };
}

/** Reads a chat to its end. An abort interrupts the turn and waits until it has ended. */
async function followed(chat: Chat, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const items = chat[Symbol.asyncIterator]();
  let left: Promise<unknown> | undefined;
  using _ = onAbort(signal, () => {
    left = items.return?.();
  });
  for await (const _item of items);
  await left;
}

/** The agent, and agents that it hands the conversation to, with a listener for each turn. */
function withTurnListener(agent: Agent, told: (turn: Turn, leaf: string | null) => void): Agent {
  const { onTurn } = agent.options;
  return agent.with({
    async onTurn(conversation, by, turn) {
      const next = await onTurn?.(conversation, by, turn);
      // A turn that a hook adds reports this turn's figures too.
      if (!next?.options.sharesLimits) told(turn, conversation.leaf);
      if (!next || next.agent === by || !(next.agent instanceof Agent)) return next;
      return withTurnListener(next.agent, told).chat(next.directive, next.options);
    },
  });
}
