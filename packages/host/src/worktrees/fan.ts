import { type Agent, createId, type Session, type Turn, type UserPart } from "@banyan/core";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import type { BranchStart, Worktrees } from "./worktrees.ts";

/** Options of `fan`. */
export interface FanOptions {
  readonly content: string | readonly UserPart[];
  /** The parent of all branches; `null` for the root. */
  readonly at: string | null;
  /** True to give each agent its own files. Default: all agents share those of the workspace. */
  readonly worktrees?: Worktrees | undefined;
}

const OPTIONS: OptionNames<FanOptions> = { content: true, at: true, worktrees: true };

/** One of several branches with the same user message. */
export interface FannedBranch extends BranchStart {
  /** The user message of the branch. */
  readonly message: string;
  /** Resolves with the finished turn; rejects as `agent.send` does. */
  readonly turn: Promise<Turn>;
}

/**
 * Sends the same message to several agents, or several times to one (C8), each on its own branch. Resolves when all
 * branches exist. Rejects with a `WorktreeError` or `SessionError`, and then asks no agent.
 * @example
 * const agents = await Promise.all(["anthropic/claude-opus-4-5", "openai/gpt-5"].map((model) =>
 * host.agentWith(model)));
 * const asked = { content: "Find the bug.", at: session.state.leaf, worktrees: host.worktrees };
 * const branches = await fan(session, agents, asked);
 * await Promise.allSettled(branches.map(({ turn }) => turn));
 */
export async function fan(
  session: Session,
  agents: readonly Agent[],
  options: FanOptions,
): Promise<readonly FannedBranch[]> {
  refuseUnknown("fan", options, OPTIONS);
  const { content, at, worktrees } = options;
  const names = agents.map((agent) =>
    branchNameForModel("id" in agent.options.model ? String(agent.options.model.id) : agent.name),
  );
  const starts = await fanStarts(session, at, names, worktrees);
  return agents.map((agent, index) => {
    const start = starts[index] ?? { at };
    const message = createId();
    const turn = agent.send(content, { session, id: message, ...(start.at !== null && { at: start.at }) });
    // Until the caller awaits the turn, its failure must not count as unhandled.
    turn.catch(() => {});
    return { ...start, message, turn };
  });
}

/** Prepares a branch for each name. Rejects with a `WorktreeError` or `SessionError`. */
export async function fanStarts(
  session: Session,
  at: string | null,
  names: readonly string[],
  worktrees: Worktrees | undefined,
): Promise<readonly BranchStart[]> {
  if (worktrees) return worktrees.open(session, at, names);
  if (at !== null) return names.map(() => ({ at }));
  const starts: BranchStart[] = [];
  // Without `at`, a message goes below the last message. Give each branch its own first message.
  for (const name of names) {
    const text = `The same message goes to ${names.length} branches at once. This is the branch ${name}.`;
    starts.push({ at: await session.add(text, { at: null, author: "system" }) });
  }
  return starts;
}

/** Returns the branch name for a model. */
export function branchNameForModel(model: string): string {
  return model.slice(model.lastIndexOf("/") + 1);
}
