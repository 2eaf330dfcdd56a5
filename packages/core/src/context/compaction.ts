import { errorMessage } from "../conversation/error-message.ts";
import { type Message, textOf } from "../conversation/message.ts";
import { counted } from "../conversation/shown/amounts.ts";
import { afterSummary, isSummary } from "../conversation/tree/path.ts";
import type { ModelDriver } from "../ports/model.ts";
import { addModelNote, type FallbackModel, noticeOnce, type RunWithModel, type TurnRun } from "../run/run.ts";
import {
  beginSummary,
  giveUpSummary,
  isSummaryUnderWay,
  SHORTEN,
  takeSummary,
  type WrittenSummary,
} from "./background-summary.ts";
import { contextRoom, countTokens } from "./behind-summary.ts";
import { cutNewestResults } from "./cut-results.ts";
import { oldResults, oldResultsSuffice, shortenResults } from "./old-results.ts";
import { addSummary, lastCoverable, TOO_LONG, tokensFreedBy, type VerbatimShare } from "./summary-message.ts";
import { type SummaryOrder, summaryModel, summaryWords } from "./summary-order.ts";
import { SummaryWriter } from "./summary-writer.ts";
import {
  contextUsage,
  countContextTokens,
  fitsByAnyCount,
  NEARLY_FULL,
  promptTextsOfPath,
  type SizedCompaction,
  untilAborted,
} from "./tokens.ts";

/** Failed summaries in one turn after which no further summary is requested. */
const FAILURES = 2;

const FULL = "the context is nearly full";

/**
 * Makes room for the next request: reminds the model before the window is full, and compacts if necessary. `written`: a
 * summary that was written in the background. Returns true if the request has changed, because its size must then be
 * checked again.
 */
export async function makeSomeRoom(
  { run, model }: RunWithModel,
  compaction: SizedCompaction,
  { written, standIn }: { readonly written: WrittenSummary | undefined; readonly standIn: FallbackModel | undefined },
): Promise<boolean> {
  const { contextSize, threshold, hint, count } = compaction;
  if (written) await useMade(run, written);
  const taken = contextUsage(run);
  if (fitsByAnyCount(taken, compaction)) return false;
  if (taken.doubted) tellDoubt(run, model, taken.doubted);
  const tokens = await untilAborted(run, (signal) => countContextTokens(taken, count, signal));
  if (tokens === undefined) return false;
  const share = tokens / contextSize;
  if (share >= threshold) {
    if (await cutNewestResults(run)) return true;
    if (share < NEARLY_FULL && isSummaryUnderWay(run)) return false;
    const needed = tokens - contextSize * threshold;
    if (await untilAborted(run, () => shortenResults(run, needed))) return false;
    if (isSummaryUnderWay(run) && (await waitForSummary(run))) return true;
    if (!run.signal.aborted) await shorten({ run, model }, FULL, { standIn });
  } else if (share < hint) {
    return false;
  } else if (compaction.background ?? !model.oneAtATime) {
    const covers = await untilAborted(run, () => coveredInBackground(run, tokens));
    if (covers !== undefined) beginSummary({ run, model }, covers);
  } else if (run.agent.toolbox.find(SHORTEN) && !hasReminder(run)) {
    const percent = Math.round(share * 100);
    await addModelNote(
      run,
      `The conversation fills ${percent} % of your context. Call ${SHORTEN} at a convenient point. At ${Math.round(threshold * 100)} %, the program replaces earlier messages by a summary.`,
    );
  }
  return false;
}

/** Share of the room read since the last summary at which a background summary begins. */
const READ = 0.3;

/** Returns the last message that a background summary should cover, if any. `tokens`: size of the next request. */
async function coveredInBackground(run: TurnRun, tokens: number): Promise<string | undefined> {
  const { agent, branch, progress } = run;
  const last = branch.path.findLast(({ role }) => role === "summary")?.id ?? "";
  if (progress.failedSummaries > 0 || progress.shortensBehind === last || isSummaryUnderWay(run)) return undefined;
  const room = await contextRoom(run);
  const head = (agent.compaction?.contextSize ?? room) - room;
  const before = branch.path.findLast(isSummary);
  const after = before?.role === "summary" ? before.compaction?.after : undefined;
  if (tokens - (after ?? head) < READ * room) return undefined;
  if (await oldResultsSuffice(run)) {
    progress.shortensBehind = last;
    return undefined;
  }
  return lastCoverable(run, branch.path.length, "half");
}

interface ShortenOptions {
  /** How many messages stay unchanged. With `asked`, only the model writes a summary, never the program. */
  readonly whole?: VerbatimShare;
  readonly least?: number | undefined;
  /** Absent: no summary is needed before the next request. */
  readonly order?: SummaryOrder;
  readonly standIn?: FallbackModel | undefined;
}

/**
 * Compacts the conversation with a summary by the model. If the model fails, the program writes the summary (F91). An
 * abort changes nothing, and neither does a failed summary that a user asked for. Returns the reason if nothing
 * changed.
 */
export async function shorten(
  { run, model }: RunWithModel,
  why: string,
  { whole = "newest", least, order = AUTOMATIC, standIn }: ShortenOptions = {},
): Promise<string | undefined> {
  const { branch, agent, signal, progress } = run;
  const isManual = order.trigger === "manual";
  if (!agent.compaction || !(isManual || agent.compaction.automatic)) return "Compaction is switched off.";
  const covers = await untilAborted(run, () =>
    isManual ? coveredAsAsked(run, whole) : lastCoverable(run, branch.path.length, whole, least),
  );
  if (signal.aborted) return errorMessage(signal.reason);
  if (covers === undefined) return "There is nothing to compact yet.";
  await giveUpSummary(run);
  const isAsked = progress.failedSummaries < FAILURES;
  const words = isAsked ? await untilAborted(run, () => summaryWords(run, order)) : [];
  if (words === undefined) return errorMessage(signal.reason);
  if ("blocked" in words) return `A hook blocked the summary: ${words.blocked}`;
  const asking = isAsked ? await untilAborted(run, () => summaryModel({ run, model })) : { run, model };
  if (asking === undefined) return errorMessage(signal.reason);
  const writer = new SummaryWriter(asking, { standIn, reader: run });
  const put = (text: string, isOwn: boolean) => commitSummary(run, { text, covers }, { isManual, isOwn, writer });
  let reason = GIVEN_UP;
  try {
    if (isAsked) {
      tellShortening(run, why);
      try {
        const text = await writer.summaryOf(branch.promptTo(covers), words);
        // A user who asked for a summary can read it and go back.
        if (whole !== "asked" && (await isTooShort(run, text, covers))) throw new Error(TOO_SHORT);
        await put(text, false);
        return undefined;
      } catch (error) {
        if (!signal.aborted) progress.summaryFailed();
        if (signal.aborted || whole === "asked") throw error;
        reason = errorMessage(error);
      }
    }
    const { messages } = await tokensFreedBy(run, "", covers);
    await put(`No summary could be made of ${counted(messages, "message")}. ${reason}`, true);
    return undefined;
  } catch (error) {
    await writer.countSpent(run);
    const why = errorMessage(error);
    if (isAsked) tellNotShortened(run, why);
    return why;
  }
}

function tellShortening({ session, branch, id, origin }: TurnRun, reason: string): void {
  session.notify({ type: "context.shortening", run: id, leaf: branch.leaf, reason }, origin);
}

function tellNotShortened({ session, branch, id, origin }: TurnRun, reason: string): void {
  session.notify({ type: "context.not-shortened", run: id, leaf: branch.leaf, reason }, origin);
}

/** Inserts a summary. Rejects if no user asked for it and the summary frees nothing. */
async function commitSummary(
  run: TurnRun,
  { text, covers }: WrittenSummary,
  { isManual = false, isOwn = false, writer }: { isManual?: boolean; isOwn?: boolean; writer?: SummaryWriter } = {},
): Promise<void> {
  if (!isManual && (await tokensFreedBy(run, text, covers)).tokens <= 0) throw new Error(TOO_LONG);
  const { results } = await oldResults(run, covers);
  await addSummary(run, text, covers, { spent: writer?.spent, shortened: results, isOwn });
}

/** Uses a background summary, unless it is too short or frees nothing. Returns true if it is used. */
async function useMade(run: TurnRun, made: WrittenSummary): Promise<boolean> {
  if (
    (await isTooShort(run, made.text, made.covers)) ||
    (await tokensFreedBy(run, made.text, made.covers)).tokens <= 0
  ) {
    run.progress.summaryFailed();
    return false;
  }
  await commitSummary(run, made);
  return true;
}

async function waitForSummary(run: TurnRun): Promise<boolean> {
  tellShortening(run, FULL);
  const made = await takeSummary(run, { waits: true });
  if (made && (await useMade(run, made))) return true;
  tellNotShortened(run, run.signal.aborted ? errorMessage(run.signal.reason) : "The model wrote no usable summary.");
  return false;
}

/** Warns the user once about suspicious token counts: a wrong count lets a conversation grow too long (F97). */
function tellDoubt(run: TurnRun, model: ModelDriver, counts: "few" | "many"): void {
  const fact = `The token counts of ${model.id} differ from Banyan's own counts by more than a factor of two`;
  // A server that silently cuts prompts counts only the rest (F69).
  const advice =
    counts === "few"
      ? "The server's token counts are wrong, or the server reads only a part of each request. Check the context size in the server's settings. Banyan uses its own counts."
      : "Banyan uses the larger of the two counts to decide when to compact the conversation.";
  noticeOnce(run, `${fact}. ${advice}`);
}

const AUTOMATIC: SummaryOrder = { trigger: "auto" };

/** Returns the last message that a requested summary covers: all answered messages, if few are visible. */
async function coveredAsAsked(run: TurnRun, whole: VerbatimShare): Promise<string | undefined> {
  const { path } = run.branch;
  const shown = afterSummary(path).filter(({ role }) => role !== "summary");
  if (shown.length <= 2 || isSummary(path.at(-1))) return undefined;
  return (await lastCoverable(run, path.length, whole)) ?? shown.findLast(({ role }) => role === "assistant")?.id;
}

const TOO_SHORT = "The model's summary was too short.";
const GIVEN_UP = "The model failed twice in this turn to write a summary, so Banyan does not ask again.";

/** A text with fewer tokens than both bounds is no summary. `share`: part of the tokens of the covered messages. */
const LEAST = { tokens: 50, share: 0.01 };

async function isTooShort(run: TurnRun, text: string, covers: string): Promise<boolean> {
  const tokens = await countTokens(run, text);
  if (tokens >= LEAST.tokens) return false;
  const covered = run.branch.path.findIndex(({ id }) => id === covers) + 1;
  return tokens < LEAST.share * (await countTokens(run, ...promptTextsOfPath(run.branch.path.slice(0, covered))));
}

function hasReminder({ branch }: TurnRun): boolean {
  for (let i = branch.path.length - 1; i >= 0; i--) {
    const message = branch.path[i] as Message;
    if (isSummary(message)) return false;
    if (message.role === "user" && message.author === "system" && textOf(message).includes(SHORTEN)) return true;
  }
  return false;
}
