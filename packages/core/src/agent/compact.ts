import { shorten } from "../context/compaction.ts";
import { OptionError, type OptionNames, refuseUnknown } from "../conversation/option-names.ts";
import { newRun } from "../run/new-run.ts";
import type { FallbackModel, TurnAgent } from "../run/run.ts";
import { Interruption } from "../session/error.ts";
import type { Session } from "../session/session.ts";
import { ChosenModel } from "../turn/chosen-model.ts";
import { Interrupts, runOnBranch } from "../turn/drive.ts";
import { continuationLeaf } from "./directive.ts";

/** Options for shortening a conversation. */
export interface CompactOptions {
  /** The conversation. */
  readonly session: Session;
  /** Leaf of the branch. Absent: the branch that was last written to. */
  readonly at?: string | undefined;
  /** Instructions for the summary: the facts that it must keep. */
  readonly keep?: string | undefined;
  /** Id of the run for the summary, so that `session.interrupt` can end only this run. Absent: a new id. */
  readonly id?: string | undefined;
  /** Ends the wait for the branch, or the summary: nothing changes then. */
  readonly signal?: AbortSignal | undefined;
  /** Like `wait` of a chat: `false` rejects with `SessionError` (`busy`) while a turn works on the branch. Default `true`. */
  readonly wait?: boolean | undefined;
}

const COMPACT: OptionNames<CompactOptions> = {
  session: true,
  at: true,
  keep: true,
  id: true,
  signal: true,
  wait: true,
};

const WAITS = "This branch waits for a user's answer. First answer the question or interrupt the turn, then compact the branch.";

/** Shortens a branch once no run works on it. Returns the reason if nothing was shortened. */
export async function compactBranch(agent: () => TurnAgent, options: CompactOptions): Promise<string | undefined> {
  refuseUnknown("compact", options, COMPACT);
  const { session, at, keep, id, signal, wait: waits = true } = options;
  const ready = agent();
  const { model } = ready;
  if ("run" in model) throw new OptionError(`${model.id} manages its own context, so Banyan cannot compact the conversation.`);
  // Takes the branch like a turn, because a summary is a message at its end. A summary next to a live run would be a
  // sibling of the run's next message and split the tree. So `agent.compact` waits for the live run, and begins at its
  // end. A server passes `wait: false`.
  const begun = session.runs.begin(continuationLeaf(session.state, at), { signal, id, goesOn: true, waits });
  using interrupts = new Interrupts([signal], new Interruption("interrupted by the caller"));
  return await runOnBranch(begun, { session, interrupts }, async ({ handle, branch }) => {
    const run = newRun(handle, session, ready, branch, { origin: handle });
    // A summary would cover the waiting call, so the model would never see its result.
    if (run.continues !== undefined) return WAITS;
    const chosen = new ChosenModel(session.state.model);
    const standIn: FallbackModel = (error) => chosen.standIn({ run, model }, error);
    return shorten({ run, model }, "a user asked for it", {
      whole: "asked",
      standIn,
      order: { trigger: "manual", wanted: keep },
    });
  });
}
