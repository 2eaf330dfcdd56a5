import { Agent, type Chat, resume, type Session, say, type Turn } from "@banyan/core";
import { addCost, addUsage, noUsage } from "@banyan/core/conversation";
import { onAbort } from "@banyan/core/hosts";
import type { EvaluationCost } from "./case-check.ts";

/** The result of all turns on a branch. */
export interface BranchOutcome {
  /** True if all messages were sent, and each turn ended by itself or at its limit. */
  readonly isWhole: boolean;
  readonly last: Turn | undefined;
  /** The last message of the branch. */
  readonly leaf: string;
  readonly steps: number;
  readonly seconds: number;
  readonly spent: EvaluationCost;
}

export const nothingSpent: EvaluationCost = Object.freeze({ usage: noUsage, cost: 0 });

/** Adds tokens and cost. If one of the costs is unknown, the sum is unknown. */
export function addCosts(a: EvaluationCost, b: EvaluationCost): EvaluationCost {
  return { usage: addUsage(a.usage, b.usage), cost: addCost(a.cost, b.cost) };
}

/** A branch with user messages to answer. */
export interface BranchToAnswer {
  readonly session: Session;
  readonly agent: Agent<unknown>;
  /** The first message of the branch, without an answer yet. */
  readonly root: string;
  /** Further user messages. Each is sent after the answer to the message before it. */
  readonly then?: readonly string[];
  /** Interrupts the running turn. */
  readonly signal: AbortSignal;
}

/**
 * Lets an agent answer the user messages of a branch, also by agents to which it hands over. Stops after a turn without
 * an answer. Rejects like a turn that cannot start.
 */
export async function turnsOn({ session, agent, root, then = [], signal }: BranchToAnswer): Promise<BranchOutcome> {
  const turns: Turn[] = [];
  let leaf = root;
  const observed = withTurnListener(agent, (turn, end) => {
    turns.push(turn);
    leaf = end ?? leaf;
  });
  const from = performance.now();
  let isWhole = true;
  for (const said of [undefined, ...then]) {
    const before = turns.length;
    await followed(observed.chat(said === undefined ? resume() : say(said), { session, at: leaf }), signal);
    const { reason } = turns.at(-1) ?? {};
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

/** An abort interrupts the turn and waits for its end. */
async function followed(chat: Chat<unknown>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const items = chat[Symbol.asyncIterator]();
  let left: Promise<unknown> | undefined;
  using _ = onAbort(signal, () => {
    left = items.return?.();
  });
  for await (const _item of items);
  await left;
}

/** Adds a listener for each turn of the agent, and of agents to which it hands over. */
function withTurnListener(agent: Agent<unknown>, listener: (turn: Turn, leaf: string | null) => void): Agent<unknown> {
  const { onTurn } = agent.options;
  return agent.with({
    async onTurn(conversation, by, turn) {
      const next = await onTurn?.(conversation, by, turn);
      // A turn that a hook adds reports this turn's figures too.
      if (!next?.options.sharesLimits) listener(turn, conversation.leaf);
      if (!next || next.agent === by || !(next.agent instanceof Agent)) return next;
      return withTurnListener(next.agent, listener).chat(next.directive, next.options);
    },
  });
}
