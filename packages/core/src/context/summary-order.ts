import { orAborted } from "../model/alarm.ts";
import { checkPrice } from "../run/limits.ts";
import type { Asking, TurnRun } from "../run/run.ts";
import { messageOf } from "../toolbox/execute.ts";

/** The trigger of a summary, and the user's words for it. */
export interface SummaryOrder {
  /** `manual`: a user asks for it. `auto`: the context is nearly full. */
  readonly trigger: "manual" | "auto";
  /** The user's words for this summary. */
  readonly wanted?: string | undefined;
}

/** Words of users for a summary, or the reason why there must be none. */
type SummaryWords = readonly string[] | { readonly blocked: string };

/**
 * Returns the words that a summary is asked for with: those of `compaction.instructions`, of the hook, and of the user who
 * asks for it. A hook blocks only a summary that a user asks for, because without the others the turn would end for lack of
 * room. A hook that throws adds nothing, and the feed says so.
 */
export async function wordsOf(run: TurnRun, { trigger, wanted }: SummaryOrder): Promise<SummaryWords> {
  const { session, agent, signal, origin } = run;
  const instructions = agent.compaction?.instructions;
  const { beforeSummary } = agent.hooks;
  const request = { run: run.id, trigger, wanted, conversation: session.state, signal };
  const fail = (reason: string) =>
    session.notify({ type: "callback.failed", callback: "beforeSummary", reason }, origin);
  let added: string | undefined;
  try {
    const said = beforeSummary && (await orAborted(Promise.resolve(beforeSummary(request)), signal));
    if (said?.decision === "deny") {
      if (trigger === "manual") return { blocked: said.reason };
      fail(`A summary that the context needs cannot be blocked. ${said.reason}`);
    } else added = said?.instructions;
  } catch (error) {
    if (signal.aborted) throw error;
    fail(messageOf(error));
  }
  const words = [instructions, added, wanted].map((text) => text?.trim() ?? "");
  return words.filter((text) => text !== "");
}

/**
 * Returns the model that writes summaries, and the run as it asks that model: that of `compaction.model`, or the model of the
 * turn where none is named. A model that cannot be had is told in the feed, and the model of the turn writes the summary.
 */
export async function writerOf({ run, model }: Asking): Promise<Asking> {
  const { agent, session, signal, origin } = run;
  const name = agent.compaction?.model;
  if (name === undefined || !agent.modelNamed) return { run, model };
  try {
    const { model: writer, settings, compaction } = await orAborted(agent.modelNamed(name), signal);
    if ("run" in writer) throw new Error(`${name} runs its turns by itself and writes no summaries.`);
    if (writer.id === model.id) return { run, model };
    checkPrice(agent.limits, writer);
    return { run: { ...run, agent: { ...agent, model: writer, settings, compaction } }, model: writer };
  } catch (error) {
    if (signal.aborted) throw error;
    session.notify({ type: "callback.failed", callback: "compaction.model", reason: messageOf(error) }, origin);
    return { run, model };
  }
}
