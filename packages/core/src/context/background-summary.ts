import { createId } from "../conversation/id.ts";
import { orAborted } from "../model/alarm.ts";
import type { PromptMessage } from "../ports/model.ts";
import { Budget } from "../run/limits.ts";
import type { RunWithModel, TurnRun } from "../run/run.ts";
import type { Session } from "../session/session.ts";
import { isEqual } from "../toolbox/checked-input.ts";
import type { SummaryWriter } from "./summary-writer.ts";
import { untilAborted } from "./tokens.ts";

/** The name of the tool by which the model requests a summary. */
export const SHORTEN = "shorten_conversation";

/** A summary that a model writes during the turn (F95). */
interface BackgroundSummary {
  readonly covers: string;
  readonly leaf: string | null;
  /** The covered messages as the model saw them when the summary began. */
  readonly messages: readonly PromptMessage[];
  readonly cancelled: AbortController;
  /** Resolves with the text, or with nothing, once the model has ended and its tokens are counted. */
  readonly written: Promise<string | undefined>;
  isWritten: boolean;
}

/** Unused summaries, until their session ends. */
const summaries = new WeakMap<Session, Set<BackgroundSummary>>();

/** The prompt must still contain all covered messages unchanged: the branch may have been edited or compacted. */
function summaryOn({ session, branch }: TurnRun): BackgroundSummary | undefined {
  return summaries
    .get(session)
    ?.values()
    .find(({ covers, messages }) => isEqual(branch.promptTo(covers), messages));
}

export function isSummaryUnderWay(run: TurnRun): boolean {
  return summaryOn(run)?.isWritten === false;
}

export interface WrittenSummary {
  readonly text: string;
  readonly covers: string;
}

/**
 * Returns the branch's summary from the background. Each summary is returned once. With `waits`, waits for the model.
 */
export async function takeSummary(run: TurnRun, { waits = false } = {}): Promise<WrittenSummary | undefined> {
  const summary = summaryOn(run);
  if (!summary || !(waits || summary.isWritten)) return undefined;
  const text = await untilAborted(run, async (signal) => orAborted(summary.written, signal));
  if (run.signal.aborted) return undefined;
  summaries.get(run.session)?.delete(summary);
  return text === undefined ? undefined : { text, covers: summary.covers };
}

/** Stops the background summaries of the branch, and counts their tokens. Returns true if there were any. */
export async function giveUpSummary({ session, branch }: TurnRun): Promise<boolean> {
  const all = summaries.get(session) ?? new Set();
  const begun = [...all].filter(({ leaf }) => branch.path.some(({ id }) => id === leaf));
  for (const summary of begun) {
    all.delete(summary);
    summary.cancelled.abort(new Error("the summary is not needed any more"));
    await summary.written;
  }
  return begun.length > 0;
}

/** Begins a summary in the background, if the turn's limits have room for it. */
export function beginSummary(asking: RunWithModel, covers: string): void {
  const { session, agent, branch, budget: turns } = asking.run;
  // Like a sub-agent, the summary leaves the turn its limits and its final answer.
  const budget = new Budget(agent.limits, turns);
  if (budget.takeRoom() !== undefined) return;
  const cancelled = new AbortController();
  const messages = branch.promptTo(covers);
  const summary: BackgroundSummary = {
    covers,
    leaf: branch.leaf,
    messages,
    cancelled,
    isWritten: false,
    written: writeSummary(asking, budget, messages, cancelled.signal).finally(() => {
      summary.isWritten = true;
      budget.end();
    }),
  };
  summaries.set(session, (summaries.get(session) ?? new Set()).add(summary));
}

/** Lets the model write the summary. Never rejects: the turn can continue without the summary. */
async function writeSummary(
  { run, model }: RunWithModel,
  budget: Budget,
  messages: readonly PromptMessage[],
  cancelled: AbortSignal,
): Promise<string | undefined> {
  try {
    // The closing session waits for the summary, as for a run.
    const handle = await run.session.runs.begin(createId(), { beside: true, signal: cancelled });
    const signal = AbortSignal.any([run.signal, cancelled, handle.signal]);
    try {
      return await askForSummary({ run: { ...run, budget, signal }, model }, messages);
    } finally {
      handle.end(null);
    }
  } catch {
    return undefined;
  }
}

async function askForSummary(
  { run, model }: RunWithModel,
  messages: readonly PromptMessage[],
): Promise<string | undefined> {
  let writer: SummaryWriter | undefined;
  try {
    const { summaryModel, summaryWords } = await import("./summary-order.ts");
    const { SummaryWriter } = await import("./summary-writer.ts");
    const words = await summaryWords(run, { trigger: "auto" });
    writer = new SummaryWriter(await summaryModel({ run, model }), { reader: run, isQuiet: true });
    return await writer.summaryOf(messages, "blocked" in words ? [] : words);
  } catch {
    // At the threshold the model is asked again, with fallbacks; the user gets a report of a further failure.
    if (!run.signal.aborted) run.progress.summaryFailed();
    return undefined;
  } finally {
    await writer?.countSpent(run);
  }
}
