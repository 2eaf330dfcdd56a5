import { learnWindow, wasRefused, windowIn, windowOf } from "../model/context-window.ts";
import type { ModelError } from "../ports/model.ts";
import type { Asking, StandIn, TurnRun } from "../run/run.ts";
import { shorten } from "./compaction.ts";
import { cutNewestResults, cutResults } from "./cut-results.ts";
import { estimate, mostOf, NEARLY_FULL, ownCount, takenBy, tokensOf, untilAborted } from "./tokens.ts";

/** The run with the window that the model's server has told, where that is smaller than the window that was known (F89). */
export function withWindow(asking: Asking): Asking {
  const { run, model } = asking;
  const { compaction } = run.agent;
  const contextSize = compaction && windowOf(model, compaction.contextSize);
  const isNews = wasRefused(model) && !compaction?.wasRefused;
  if (!compaction || (contextSize === compaction.contextSize && !isNews)) return asking;
  const learnt = { ...compaction, contextSize, ...(isNews && ({ wasRefused: true } as const)) };
  return { run: { ...run, agent: { ...run.agent, compaction: learnt } }, model };
}

/** A request with a larger part of what was refused is the same request: a result that was cut before is cut by a character. */
const SAME = 0.999;

/** Returns whether a model refused a request as too long: by the words of the refusal, or by the size of the request. */
async function isTooLong(run: TurnRun, { code, status }: ModelError): Promise<boolean> {
  if (code === "context-overflow") return true;
  const { contextSize, count } = run.agent.compaction ?? {};
  if (code !== "invalid-request" || status !== 400 || contextSize === undefined || !count) return false;
  const taken = takenBy(run);
  if (mostOf(taken) < contextSize * NEARLY_FULL) return false;
  const tokens = await untilAborted(run, (signal) => tokensOf(taken, count, signal));
  return tokens !== undefined && tokens >= contextSize * NEARLY_FULL;
}

/**
 * Makes the request shorter that a model has refused as too long, and remembers the window that the refusal tells. `stuck`:
 * nothing is left to cut. `other`: the refusal has another reason, or compaction is off.
 */
export async function repairOverflow(
  { run, model }: Asking,
  error: ModelError,
  standIn?: StandIn,
): Promise<"shorter" | "stuck" | "other"> {
  const { agent, branch } = run;
  if (!agent.compaction || !(await isTooLong(run, error))) return "other";
  const { count = estimate } = agent.compaction;
  const counted = await untilAborted(run, (signal) => tokensOf(takenBy(run), count, signal));
  if (counted === undefined) return "shorter";
  const before = ownCount(branch.prompt(), agent);
  const sent = Math.max(counted, before);
  learnWindow(model, windowIn(error, sent, before));
  // Less than what was sent, whatever is remembered.
  const contextSize = Math.min(sent, windowOf(model, agent.compaction.contextSize) ?? sent);
  const bounded = {
    ...run,
    agent: { ...agent, compaction: { ...agent.compaction, contextSize, wasRefused: true } },
  } as const;
  if (!((await cutNewestResults(bounded)) && (await excess(bounded)) <= 0)) {
    const asking = { run: bounded, model };
    await shorten(asking, "the request was too long for the model", { least: 1, standIn });
    const tooMuch = await excess(bounded);
    if (tooMuch > 0) await untilAborted(run, () => cutResults(bounded, (results) => results - tooMuch));
  }
  const after = ownCount(branch.prompt(), agent);
  const fits = contextSize < before && after <= contextSize;
  const isShorter = after < before && (fits || after <= SAME * before);
  return run.signal.aborted || isShorter ? "shorter" : "stuck";
}

/** Tokens of a request beyond the size at which a summary is made. */
async function excess(run: TurnRun): Promise<number> {
  const { contextSize = 0, threshold = 1, count = estimate } = run.agent.compaction ?? {};
  const tokens = await untilAborted(run, (signal) => tokensOf(takenBy(run), count, signal));
  return (tokens ?? 0) - contextSize * threshold;
}
