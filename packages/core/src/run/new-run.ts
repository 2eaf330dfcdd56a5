import { waitingRunOn } from "../conversation/tree/asking-run.ts";
import type { FeedReader } from "../session/feed.ts";
import type { RunHandle } from "../session/runs.ts";
import type { Session } from "../session/session.ts";
import type { RunBranch } from "./branch.ts";
import { Followers } from "./followers.ts";
import { Budget } from "./limits.ts";
import { TurnProgress } from "./progress.ts";
import { Repeats } from "./repeats.ts";
import type { TurnAgent, TurnRun } from "./run.ts";
import { TurnWork } from "./turn-work.ts";

export interface TurnWatch {
  readonly origin: object;
  readonly reader?: FeedReader | undefined;
  /** The name of the conversation's model when the agent was created. */
  readonly chosenModel?: string | undefined;
  /** The client that began the turn, if known. For a sub-agent: the client of its parent. */
  readonly client?: string | undefined;
  /** Usage of the previous turn, if this turn shares its limits. */
  readonly before?: Budget | undefined;
  readonly parent?: TurnRun;
  readonly call?: string;
  /** True if the parent's call can run again in another process. */
  readonly isRepeatable?: boolean;
}

/** Creates a run that the log does not contain yet. */
export function newRun(
  { id, signal, hurry }: RunHandle,
  session: Session,
  agent: TurnAgent,
  branch: RunBranch,
  { origin, reader, client, before, parent, call, isRepeatable = true }: TurnWatch,
): TurnRun {
  const continues = waitingRunOn(session.state, branch.path, call);
  const spentBefore = continues === undefined ? before?.spent() : session.spending.before(continues);
  const budget = new Budget(agent.limits, parent?.budget, spentBefore);
  return {
    id,
    session,
    agent,
    client: client ?? parent?.client,
    branch,
    budget,
    repeats: new Repeats(),
    source: { run: id, agent: agent.name, depth: budget.depth },
    origin,
    reader,
    signal,
    hurry,
    from: branch.path.length,
    call,
    continues,
    before: continues === undefined ? spentBefore : undefined,
    survives: !("run" in agent.model) && isRepeatable && (parent?.survives ?? true),
    followers: new Followers({ id, session, branch, origin }),
    begun: new TurnWork(),
    progress: new TurnProgress(),
  };
}
