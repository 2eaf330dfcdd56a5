import { shorten } from "../context/compaction.ts";
import { OptionError, type OptionNames, refuseUnknown } from "../conversation/option-names.ts";
import { newRun } from "../run/new-run.ts";
import type { StandIn } from "../run/run.ts";
import { Interruption } from "../session/error.ts";
import type { Session } from "../session/session.ts";
import { ChosenModel } from "../turn/chosen-model.ts";
import { drive } from "../turn/drive.ts";
import type { Agent } from "./agent.ts";
import { whereTo } from "./directive.ts";

/** Where a conversation is shortened. */
export interface CompactOptions {
  /** The conversation. */
  readonly session: Session;
  /** The end of the branch; where the conversation was last written to when absent. */
  readonly at?: string | undefined;
  /** What the summary must keep, in words for the model. */
  readonly keep?: string | undefined;
  /** Of the run that asks for the summary: `session.interrupt` of it ends nothing else. A new one when absent. */
  readonly id?: string | undefined;
  /** Ends the wait for the branch, or the summary: everything stays as it was. */
  readonly signal?: AbortSignal | undefined;
  /** As `wait` of a chat: with `false`, rejects with `SessionError` (`busy`) while a turn works on the branch. Default `true`. */
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

const WAITS = "This branch waits for a user. Answer the question, or interrupt the turn, and shorten the branch then.";

/** Shortens a branch once nothing runs on it; returns why it did not, if so. */
export async function compactBranch(agent: Agent, options: CompactOptions): Promise<string | undefined> {
  refuseUnknown("compact", options, COMPACT);
  const { session, at, keep, id, signal, wait: waits = true } = options;
  const { ready } = agent.options.compaction === false ? agent.with({ compaction: {} }) : agent;
  const { model } = ready;
  if ("run" in model) throw new OptionError(`${model.id} runs its turns by itself, and keeps its own context.`);
  // It takes the branch as a turn does. A summary is a message at the end of the branch: beside a live run both would write
  // below the same message, and the tree would split there, with the summary on one side and what the run did on the other.
  // So `agent.compact` beside a live run waits for its end, and begins where that ended. A server passes `wait: false`.
  const begun = session.begin(whereTo(session.state, at), { signal, id, goesOn: true, waits });
  const left = new Interruption("interrupted by the caller");
  return drive(begun, { session, signals: [signal], left }, async ({ handle, branch }) => {
    const run = newRun(handle, session, ready, branch, { origin: handle });
    // A summary would stand for the call that waits, and the model would never see its result.
    if (run.continues !== undefined) return WAITS;
    const chosen = new ChosenModel(session.state.model);
    const standIn: StandIn = (error) => chosen.standIn({ run, model }, error);
    return shorten({ run, model }, "somebody asked for it", {
      whole: "asked",
      standIn,
      order: { trigger: "manual", wanted: keep },
    });
  });
}
