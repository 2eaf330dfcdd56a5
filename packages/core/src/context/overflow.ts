import { learnWindow, windowFromError, windowOf } from "../model/context-window.ts";
import type { ModelError } from "../ports/model.ts";
import type { FallbackModel, RunWithModel, TurnRun } from "../run/run.ts";
import { shorten } from "./compaction.ts";
import { cutNewestResults, cutResults } from "./cut-results.ts";
import {
  contextUsage,
  countContextTokens,
  estimate,
  NEARLY_FULL,
  roughCount,
  untilAborted,
  upperBound,
} from "./tokens.ts";

/** A request of more than this share of a refused request counts as the same request. */
const SAME = 0.999;

async function isContextRefusal(run: TurnRun, { code, status }: ModelError): Promise<boolean> {
  if (code === "context-overflow") return true;
  const { contextSize, count } = run.agent.compaction ?? {};
  if (code !== "invalid-request" || status !== 400 || contextSize === undefined || !count) return false;
  const taken = contextUsage(run);
  if (upperBound(taken) < contextSize * NEARLY_FULL) return false;
  const tokens = await untilAborted(run, (signal) => countContextTokens(taken, count, signal));
  return tokens !== undefined && tokens >= contextSize * NEARLY_FULL;
}

/**
 * Shortens a request that a model refused as too long. `stuck`: nothing can be shortened. `other`: the model had
 * another reason for the refusal, or compaction is off.
 */
export async function repairOverflow(
  { run, model }: RunWithModel,
  error: ModelError,
  standIn?: FallbackModel,
): Promise<"shorter" | "stuck" | "other"> {
  const { agent, branch } = run;
  if (!agent.compaction || !(await isContextRefusal(run, error))) return "other";
  const { count = estimate } = agent.compaction;
  const counted = await untilAborted(run, (signal) => countContextTokens(contextUsage(run), count, signal));
  if (counted === undefined) return "shorter";
  const before = roughCount(branch.prompt(), agent);
  const sent = Math.max(counted, before);
  learnWindow(model, windowFromError(error, sent, before));
  // Always less than the sent size, whatever is remembered.
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
  const after = roughCount(branch.prompt(), agent);
  const fits = contextSize < before && after <= contextSize;
  const isShorter = after < before && (fits || after <= SAME * before);
  return run.signal.aborted || isShorter ? "shorter" : "stuck";
}

async function excess(run: TurnRun): Promise<number> {
  const { contextSize = 0, threshold = 1, count = estimate } = run.agent.compaction ?? {};
  const tokens = await untilAborted(run, (signal) => countContextTokens(contextUsage(run), count, signal));
  return (tokens ?? 0) - contextSize * threshold;
}
