import type { Message } from "../conversation/message.ts";
import { OptionError, type OptionNames, refuseUnknown } from "../conversation/option-names.ts";
import { newRun } from "../run/new-run.ts";
import type { FallbackModel, TurnAgent } from "../run/run.ts";
import { Interruption } from "../session/error.ts";
import type { Session } from "../session/session.ts";
import { ChosenModel } from "../turn/chosen-model.ts";
import { Interrupts, runOnBranch } from "../turn/drive.ts";
import { checkSession, checkSignal, knownPath } from "./chat-options.ts";
import { continuationLeaf } from "./directive.ts";

/** Options for the compaction of a conversation. */
export interface CompactOptions {
  readonly session: Session;
  /** Leaf of the branch. Default: the branch with the newest message. */
  readonly at?: string | undefined;
  /** Instructions for the summary: the facts that it must keep. */
  readonly keep?: string | undefined;
  /** Id of the run that writes the summary, for `session.interrupt`. Default: a new id. */
  readonly id?: string | undefined;
  /** An abort ends the wait for the branch, or the summary. The conversation then stays unchanged. */
  readonly signal?: AbortSignal | undefined;
  /** True (default) to wait while a turn works on the branch. With `false`, rejects with `SessionError` (`busy`). */
  readonly wait?: boolean | undefined;
}

const COMPACT: OptionNames<CompactOptions> = {
  session: "object!",
  at: "string",
  keep: "string",
  id: "string",
  signal: "object",
  wait: "boolean",
};

const WAITS =
  "This branch waits for a user's answer. First answer the question or interrupt the turn, then compact the branch.";

/** Compacts a branch as soon as no run works there. If nothing was compacted, returns the reason. */
export async function compactBranch(
  agentOn: (path: readonly Message[]) => TurnAgent,
  options: CompactOptions,
): Promise<string | undefined> {
  refuseUnknown("compact", options, COMPACT);
  const { session, at, keep, id, signal, wait: waits = true } = options;
  checkSession("compact", session);
  checkSignal("compact", signal);
  // A summary is a message at the end of a branch. Next to a live run, it would be a sibling of the run's next message
  // and split the tree. So the branch is taken like for a turn.
  const begun = session.runs.begin(continuationLeaf(session.state, at), { signal, id, continues: true, waits });
  using interrupts = new Interrupts([signal], new Interruption("interrupted by the caller"));
  return await runOnBranch(begun, { session, interrupts }, async ({ handle, branch }) => {
    const ready = agentOn(await knownPath(session, branch.path));
    const { model } = ready;
    if ("run" in model)
      throw new OptionError(`${model.id} manages its own context, so Banyan cannot compact the conversation.`);
    const run = newRun(handle, session, ready, branch, { origin: handle });
    // A summary would cover the waiting call, so the model would never see the result of the call.
    if (run.continues !== undefined) return WAITS;
    const chosen = new ChosenModel(session.state.model);
    const standIn: FallbackModel = (error) => chosen.standIn({ run, model }, error);
    const { shorten } = await import("../context/compaction.ts");
    return shorten({ run, model }, "a user asked for it", {
      whole: "asked",
      standIn,
      order: { trigger: "manual", wanted: keep },
    });
  });
}
