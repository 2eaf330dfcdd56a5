import { createId } from "../conversation/id.ts";
import { orAborted } from "../model/alarm.ts";
import type { PromptMessage } from "../ports/model.ts";
import { Budget } from "../run/limits.ts";
import type { Asking, TurnRun } from "../run/run.ts";
import type { Session } from "../session/session.ts";
import { isEqual } from "../toolbox/checked-input.ts";
import { wordsOf, writerOf } from "./summary-order.ts";
import { SummaryWriter } from "./summary-writer.ts";
import { untilAborted } from "./tokens.ts";

/** A summary that a model writes while the turn goes on (F95). */
interface BackgroundSummary {
  /** The last message that it covers. */
  readonly covers: string;
  /** The end of the branch when it was begun. */
  readonly leaf: string | null;
  /** All that it covers, as the model was shown it at the beginning. */
  readonly messages: readonly PromptMessage[];
  readonly cancelled: AbortController;
  /** Resolves when the model has ended and its tokens are counted: with the text, or with nothing where there is none. */
  readonly written: Promise<string | undefined>;
  isWritten: boolean;
}

/** Summaries under way or not used yet. They end with their session. */
const summaries = new WeakMap<Session, Set<BackgroundSummary>>();

/**
 * Returns the background summary of the branch of a run: the model is still shown, word for word, what the summary covers. So
 * a summary of a branch that was left, edited or summed up meanwhile is never used.
 */
function summaryOn({ session, branch }: TurnRun): BackgroundSummary | undefined {
  return summaries
    .get(session)
    ?.values()
    .find(({ covers, messages }) => isEqual(branch.promptTo(covers), messages));
}

/** Returns whether a model is writing a summary of the branch. */
export function isSummaryUnderWay(run: TurnRun): boolean {
  return summaryOn(run)?.isWritten === false;
}

/** A text of a model, and the last message that it covers. */
export interface WrittenSummary {
  readonly text: string;
  readonly covers: string;
}

/**
 * Takes the background summary of the branch, which is the caller's from then on. Returns nothing where there is none, where
 * the model wrote none, or where the run is aborted. `waits`: until the model has written it; otherwise one that is under way
 * stays.
 */
export async function takeSummary(run: TurnRun, { waits = false } = {}): Promise<WrittenSummary | undefined> {
  const summary = summaryOn(run);
  if (!summary || !(waits || summary.isWritten)) return undefined;
  const text = await untilAborted(run, async (signal) => orAborted(summary.written, signal));
  // The end of the turn gives it up.
  if (run.signal.aborted) return undefined;
  summaries.get(run.session)?.delete(summary);
  return text === undefined ? undefined : { text, covers: summary.covers };
}

/** Gives up the background summaries that were begun on the branch. Returns whether there was one; its tokens are counted then. */
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

/**
 * Begins a summary of all down to the message `covers`, beside the turn, unless the limits of the turn have no room for it. The
 * branch has none yet.
 */
export function beginSummary(asking: Asking, covers: string): void {
  const { session, agent, branch, budget: turns } = asking.run;
  // A part of the turn, as a sub-agent is: the turn keeps its limits and its last word.
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
    written: write(asking, budget, messages, cancelled.signal).finally(() => {
      summary.isWritten = true;
      budget.end();
    }),
  };
  summaries.set(session, (summaries.get(session) ?? new Set()).add(summary));
}

/** Has the model write the summary. Never rejects: without a summary the turn goes on as if none had been begun. */
async function write(
  { run, model }: Asking,
  budget: Budget,
  messages: readonly PromptMessage[],
  cancelled: AbortSignal,
): Promise<string | undefined> {
  try {
    // The session waits for it when it closes, as for a run.
    const handle = await run.session.begin(createId(), { beside: true, signal: cancelled });
    const signal = AbortSignal.any([run.signal, cancelled, handle.signal]);
    try {
      return await ask({ run: { ...run, budget, signal }, model }, messages);
    } finally {
      handle.end(null);
    }
  } catch {
    // The session is closed, or cannot write any more: its watchers are told by the session.
    return undefined;
  }
}

async function ask({ run, model }: Asking, messages: readonly PromptMessage[]): Promise<string | undefined> {
  let writer: SummaryWriter | undefined;
  try {
    const words = await wordsOf(run, { trigger: "auto" });
    writer = new SummaryWriter(await writerOf({ run, model }), { reader: run, isQuiet: true });
    return await writer.summaryOf(messages, "blocked" in words ? [] : words);
  } catch {
    // At the threshold the model is asked again, with stand-ins for a model that is out, and then the user is told.
    if (!run.signal.aborted) run.progress.summaryFailed();
    return undefined;
  } finally {
    await writer?.countSpent(run);
  }
}
