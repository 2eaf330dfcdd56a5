import { hasLearntWindow, windowOf } from "../model/context-window.ts";
import type { FallbackModel, RunWithModel, TurnRun } from "../run/run.ts";
import { giveUpSummary, takeSummary } from "./background-summary.ts";
import { contextUsage, fitsByAnyCount } from "./tokens.ts";

// Every step needs this file. The code of summaries is loaded when a context is nearly full.

/** Returns the run with the window that the model's server reported, if this window is smaller (F89). */
export function withWindow(asking: RunWithModel): RunWithModel {
  const { run, model } = asking;
  const { compaction } = run.agent;
  const contextSize = compaction && windowOf(model, compaction.contextSize);
  const isNews = hasLearntWindow(model) && !compaction?.wasRefused;
  if (!compaction || (contextSize === compaction.contextSize && !isNews)) return asking;
  const learnt = { ...compaction, contextSize, ...(isNews && ({ wasRefused: true } as const)) };
  return { run: { ...run, agent: { ...run.agent, compaction: learnt } }, model };
}

/** Makes room for the next request. Usually no count of tokens is needed, because the request fits by any count. */
export async function makeRoom(asking: RunWithModel, standIn?: FallbackModel): Promise<void> {
  const { run } = asking;
  const { compaction } = run.agent;
  if (compaction?.contextSize === undefined || !compaction.automatic) return;
  const sized = { ...compaction, contextSize: compaction.contextSize };
  for (;;) {
    const written = await takeSummary(run);
    if (!written && fitsByAnyCount(contextUsage(run), sized)) return;
    const { makeSomeRoom } = await import("./compaction.ts");
    if (!(await makeSomeRoom(asking, sized, { written, standIn }))) return;
  }
}

/** Inserts the summary that a call of this step wrote. */
export async function useSummary(run: TurnRun): Promise<void> {
  const summary = run.progress.takeSummary();
  if (!summary) return;
  await giveUpSummary(run);
  const { addSummary } = await import("./summary-message.ts");
  await addSummary(run, summary.text, summary.covers);
}
