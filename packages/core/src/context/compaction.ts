import { type Message, textOf } from "../conversation/message.ts";
import { isSummary } from "../conversation/tree/path.ts";
import type { ModelResponse } from "../model/ask-model.ts";
import type { ModelDriver, PromptMessage } from "../ports/model.ts";
import { type TurnRun, tellModel, tellOnce } from "../run/run.ts";
import { messageOf } from "../toolbox/execute.ts";
import { cutNewestResults } from "./cut-results.ts";
import { coveredBy, EMPTY, freedBy, type LeftWhole, putSummary, TOO_LONG } from "./summary-message.ts";
import { askForText, requestFor, summaryOf, sumOf } from "./summary-request.ts";
import { mostOf, takenBy, tokensOf, untilAborted } from "./tokens.ts";

/** Summaries that may fail in one turn before nobody asks for another one. */
const FAILURES = 2;

export const SHORTEN = "shorten_conversation";

/**
 * Sees to it that the next request fits the model: reminds the model in time, and shortens the conversation when it
 * must.
 */
export async function makeRoom(run: TurnRun, model: ModelDriver): Promise<void> {
  const { compaction, toolbox } = run.agent;
  if (compaction?.contextSize === undefined) return;
  const { contextSize, threshold, hint, count } = compaction;
  const taken = takenBy(run);
  // As a rule there is room enough, whatever counts: then nothing is.
  if (mostOf(taken) < contextSize * Math.min(hint, threshold)) return;
  if (taken.doubted) tellDoubt(run, model);
  const tokens = await untilAborted(run, (signal) => tokensOf(taken, count, signal));
  if (tokens === undefined) return;
  const share = tokens / contextSize;
  if (share >= threshold) {
    if (await cutNewestResults(run)) return makeRoom(run, model);
    await shorten(run, model, "the context is nearly full");
  } else if (share >= hint && toolbox.find(SHORTEN) && !isReminded(run)) {
    const percent = Math.round(share * 100);
    await tellModel(
      run,
      `The conversation fills ${percent} % of your context. When it suits you, call ${SHORTEN}; at ${Math.round(threshold * 100)} % it is summed up for you.`,
    );
  }
}

interface ShortenOptions {
  readonly whole?: LeftWhole;
  /** Messages that the summary must cover at least. */
  readonly least?: number | undefined;
  readonly wanted?: string;
}

/**
 * Puts a summary by the model in the place of what was said earlier, but for the last few messages; one that keeps what is
 * `wanted`, if somebody said so. When the summary is empty, fails or is interrupted, everything stays as it was, and what
 * is returned says why.
 */
export async function shorten(
  run: TurnRun,
  model: ModelDriver,
  why: string,
  { whole = "newest", least, wanted }: ShortenOptions = {},
): Promise<string | undefined> {
  const { session, branch, agent, origin, signal, progress } = run;
  if (!agent.compaction) return "Compaction is switched off.";
  const covers = await untilAborted(run, () => coveredBy(run, branch.path.length, whole, least));
  if (signal.aborted) return messageOf(signal.reason);
  if (progress.failedSummaries >= FAILURES) return "No further summary is asked for in this turn.";
  if (covers === undefined) return "There is nothing to shorten yet.";
  session.notify({ type: "context.shortening", run: run.id, leaf: branch.leaf, reason: why }, origin);
  const responses: ModelResponse[] = [];
  const ask = (messages: readonly PromptMessage[]) =>
    askForText(run, model, messages, (response) => {
      responses.push(response);
      run.budget.count(response.usage, response.cost);
    });
  try {
    const response = await summaryOf(branch.prompt(), requestFor(wanted), ask);
    const { tokens } = await freedBy(run, response.text, covers);
    if (tokens <= 0) throw new Error(response.text.trim() === "" ? EMPTY : TOO_LONG);
    await putSummary(run, response.text, covers, sumOf(responses));
    return undefined;
  } catch (error) {
    progress.summaryFailed();
    if (responses.length > 0) {
      const { usage, cost } = sumOf(responses);
      const counted = { type: "usage.counted", purpose: "summary", model: model.id, usage } as const;
      await session.commit([cost === undefined ? counted : { ...counted, cost }], { origin });
    }
    const reason = messageOf(error);
    session.notify({ type: "context.not-shortened", run: run.id, leaf: branch.leaf, reason }, origin);
    return reason;
  }
}

/** Tells the user once that a provider's counts are odd: a wrong count lets a conversation grow too long (F97). */
function tellDoubt(run: TurnRun, model: ModelDriver): void {
  tellOnce(
    run,
    `The token counts of ${model.id} differ from Banyan's own by more than a factor of two. Banyan uses the larger count to decide when it sums up the conversation.`,
  );
}

/** Whether the model was reminded since the last summary. */
function isReminded({ branch }: TurnRun): boolean {
  for (let i = branch.path.length - 1; i >= 0; i--) {
    const message = branch.path[i] as Message;
    if (isSummary(message)) return false;
    if (message.role === "user" && message.author === "system" && textOf(message).includes(SHORTEN)) return true;
  }
  return false;
}
