import { errorMessage } from "../conversation/error-message.ts";
import { orAborted } from "../model/alarm.ts";
import { checkPrice } from "../run/limits.ts";
import type { RunWithModel, TurnRun } from "../run/run.ts";

export interface SummaryOrder {
  /** The reason: `manual` if a user asked for the summary, `auto` if the context is nearly full. */
  readonly trigger: "manual" | "auto";
  readonly wanted?: string | undefined;
}

type SummaryWords = readonly string[] | { readonly blocked: string };

/**
 * Returns the instructions for a summary: those of `compaction.instructions`, of the hook, and of the user. A hook can
 * block only a summary that a user requested, because a turn needs its own summaries to continue.
 */
export async function summaryWords(run: TurnRun, { trigger, wanted }: SummaryOrder): Promise<SummaryWords> {
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
      fail(`A hook cannot block a summary that makes room in the context. ${said.reason}`);
    } else added = said?.instructions;
  } catch (error) {
    if (signal.aborted) throw error;
    fail(errorMessage(error));
  }
  const words = [instructions, added, wanted].map((text) => text?.trim() ?? "");
  return words.filter((text) => text !== "");
}

/** Returns the model for summaries: `compaction.model`, or else the model of the turn. */
export async function summaryModel({ run, model }: RunWithModel): Promise<RunWithModel> {
  const { agent, session, signal, origin } = run;
  const name = agent.compaction?.model;
  if (name === undefined || !agent.modelNamed) return { run, model };
  try {
    const { model: writer, settings, compaction } = await orAborted(agent.modelNamed(name), signal);
    if ("run" in writer) throw new Error(`${name} runs its own turns, so it cannot write summaries.`);
    if (writer.id === model.id) return { run, model };
    checkPrice(agent.limits, writer);
    return { run: { ...run, agent: { ...agent, model: writer, settings, compaction } }, model: writer };
  } catch (error) {
    if (signal.aborted) throw error;
    session.notify({ type: "callback.failed", callback: "compaction.model", reason: errorMessage(error) }, origin);
    return { run, model };
  }
}
