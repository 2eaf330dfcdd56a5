import { type Agent, createId, type Session, type Turn, type UserPart } from "@banyan/core";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import type { BranchPlace, Worktrees } from "./worktrees.ts";

/** What several agents are asked, and where. */
export interface FanOptions {
  readonly content: string | readonly UserPart[];
  /** The message that all branches begin below; `null` for the root. */
  readonly at: string | null;
  /** Gives each of them files of its own; they share those of the workspace when absent. */
  readonly worktrees?: Worktrees | undefined;
}

const OPTIONS: OptionNames<FanOptions> = { content: true, at: true, worktrees: true };

/** A branch that was asked the same as others. */
export interface FannedBranch extends BranchPlace {
  /** The message in which it was asked. */
  readonly message: string;
  /** Resolves when it has answered; rejects as `agent.send` does. */
  readonly turn: Promise<Turn>;
}

/**
 * Asks several agents the same at once (C8), or one several times: each on a branch of its own, which lives as any other does.
 * Resolves when all have their place. Rejects with a `WorktreeError` or `SessionError`; then nobody was asked.
 * @example
 * const agents = await Promise.all(["anthropic/claude-opus-4-5", "openai/gpt-5"].map((model) => host.agentWith(model)));
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
    nameFor("id" in agent.options.model ? String(agent.options.model.id) : agent.name),
  );
  const places = await placesFor(session, at, names, worktrees);
  return agents.map((agent, index) => {
    const place = places[index] ?? { at };
    const message = createId();
    const turn = agent.send(content, { session, id: message, ...(place.at !== null && { at: place.at }) });
    // Whoever looks at it later is told; until then it has not failed unseen.
    turn.catch(() => {});
    return { ...place, message, turn };
  });
}

/** Where branches begin that are asked the same, by name. Rejects with a `WorktreeError` or `SessionError`. */
export async function placesFor(
  session: Session,
  at: string | null,
  names: readonly string[],
  worktrees: Worktrees | undefined,
): Promise<readonly BranchPlace[]> {
  if (worktrees) return worktrees.open(session, at, names);
  if (at !== null) return names.map(() => ({ at }));
  const places: BranchPlace[] = [];
  // What is said without a place goes below what was said last: each of them needs a message of its own to go below.
  for (const name of names) {
    const text = `The same is asked ${names.length} times at once; this is the branch ${name}.`;
    places.push({ at: await session.add(text, { at: null, author: "system" }) });
  }
  return places;
}

/** What a branch of a model is called. */
export function nameFor(model: string): string {
  return model.slice(model.lastIndexOf("/") + 1);
}
