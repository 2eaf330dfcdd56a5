import { createId } from "../conversation/id.ts";
import {
  type CompactionResult,
  isSettled,
  type Message,
  type ShortenedResult,
  type SummaryMessage,
} from "../conversation/message.ts";
import { afterSummary, isSummary } from "../conversation/tree/path.ts";
import type { Cost, Usage } from "../conversation/usage.ts";
import type { ShortenedHistory } from "../ports/tool-values.ts";
import type { TurnRun } from "../run/run.ts";
import {
  contentKeptBySummary,
  contextRoom,
  countTokens,
  SHARES,
  summaryBound,
  summaryTokens,
} from "./behind-summary.ts";
import { rememberSummary } from "./recall.ts";
import { contextUsage, countContextTokens, estimate, promptTexts, promptTextsOfPath } from "./tokens.ts";

const EMPTY = "The summary is empty, so nothing was compacted.";
export const TOO_LONG = "The summary is longer than the messages that it would replace, so nothing was compacted.";
const NOTHING_EARLIER =
  "Nothing was compacted. The last messages and unanswered messages always stay, and too few messages come before those.";

/** Plans a summary that the model wrote in a call. Rejects if the summary frees no tokens, and informs the feed. */
export async function planSummary(run: TurnRun, message: string, text: string): Promise<ShortenedHistory> {
  const { session, branch, origin } = run;
  const response = branch.path.findIndex(({ id }) => id === message);
  const covers = await lastCoverable(run, response, "asked");
  const freed = covers === undefined ? undefined : await tokensFreedBy(run, text, covers);
  if (covers !== undefined && freed && freed.tokens > 0) {
    run.progress.planSummary({ text, covers });
    return freed;
  }
  const reason = text.trim() === "" ? EMPTY : freed ? TOO_LONG : NOTHING_EARLIER;
  session.notify({ type: "context.not-shortened", run: run.id, leaf: branch.leaf, reason }, origin);
  throw new Error(reason);
}

/** Returns the tokens that a summary with this text frees, and the number of messages that it covers. */
export async function tokensFreedBy(run: TurnRun, text: string, covers: string): Promise<ShortenedHistory> {
  const { path } = run.branch;
  const covered = path.slice(0, path.findIndex(({ id }) => id === covers) + 1);
  const messages = afterSummary(covered).filter(({ role }) => role !== "summary").length;
  if (text.trim() === "") return { messages, tokens: 0 };
  const shown = await countTokens(run, ...promptTextsOfPath(covered));
  const saved = shown - (await countTokens(run, text));
  if (saved <= 0) return { messages, tokens: saved };
  // In a short conversation the kept words of the user may be most of the text.
  return {
    messages,
    tokens: Math.max(1, shown - (await summaryTokens(run, text, await contentKeptBySummary(run, covers)))),
  };
}

interface SummaryDetails {
  readonly spent?: { readonly usage: Usage; readonly cost: Cost } | undefined;
  /** Results after the covered messages. From now on, the model sees them shortened. */
  readonly shortened?: readonly ShortenedResult[];
  /** True if the program, not the model, wrote the summary. Memory then does not keep the summary. */
  readonly isOwn?: boolean;
}

export async function addSummary(
  run: TurnRun,
  text: string,
  covers: string,
  { spent, shortened = [], isOwn = false }: SummaryDetails = {},
): Promise<void> {
  const { session, branch, origin } = run;
  const message = createId();
  const cost = spent?.cost === undefined ? {} : { cost: spent.cost };
  const summary: Omit<SummaryMessage, "id" | "createdAt"> = {
    parentId: branch.leaf,
    role: "summary",
    covers,
    parts: [{ type: "text", text }],
    ...(await contentKeptBySummary(run, covers)),
    ...(shortened.length > 0 ? { shortened } : {}),
  };
  const compaction = await compactionBy(run, { ...summary, createdAt: 0 });
  const event = { type: "message.added", message, run: run.id, ...summary, compaction } as const;
  await session.commit([spent ? { ...event, usage: spent.usage, ...cost } : event], { durable: true, origin });
  branch.extend(message);
  if (!isOwn) rememberSummary(run, text);
}

async function compactionBy(run: TurnRun, summary: Omit<SummaryMessage, "id">): Promise<CompactionResult> {
  const { agent, branch, signal } = run;
  const { count = estimate, contextSize: size } = agent.compaction ?? {};
  const { path } = branch;
  const covered = path.slice(0, path.findIndex(({ id }) => id === summary.covers) + 1);
  const messages = afterSummary(covered).filter(({ role }) => role !== "summary").length;
  const before = await countContextTokens(contextUsage(run), count, signal);
  // The provider may count differently from us, so our counts only give the share that stays.
  const head = [agent.instructions.text, agent.toolbox.text];
  const own = await countTokens(run, ...head, ...promptTextsOfPath(path));
  const left = await countTokens(run, ...head, ...promptTextsOfPath([...path, { ...summary, id: "" }]));
  const after = own === 0 ? 0 : (before * left) / own;
  return { messages, before: Math.round(before), after: Math.round(after), ...(size && { size }) };
}

/**
 * How many of the last messages a summary leaves uncovered, in addition to unanswered messages. `newest`: as many as
 * fit. `half`: half as many, because more messages arrive while the model writes a summary in the background. `asked`:
 * a share of the visible messages, for a summary that a user or the model requested.
 */
export type VerbatimShare = "newest" | "half" | "asked";

/**
 * Returns the last message that a summary may cover, among the first `end` messages. Returns nothing if the summary
 * would cover fewer than `least` messages. Unanswered messages stay, and so do the newest messages that fit beside the
 * summary.
 */
export async function lastCoverable(
  run: TurnRun,
  end: number,
  whole: VerbatimShare,
  least = 2,
): Promise<string | undefined> {
  const { path } = run.branch;
  const before = path.findLastIndex(isSummary);
  let last = (end < path.length ? end : await unansweredFrom(run)) - 1;
  const { newest, behind } = await roomBehind(run, path[end - 1], whole);
  const shown = new Map(afterSummary(path).map((message) => [message.id, message]));
  for (let left = newest; last > Math.max(before, 0); last--) {
    const message = shown.get((path[last] as Message).id);
    left -= message ? await countTokens(run, ...promptTexts(message)) : 0;
    if (left < 0) break;
  }
  // A summary without an answer has nothing after it to cover.
  if (last < before) return undefined;
  const replaced = path.slice(0, last + 1);
  if (afterSummary(replaced).filter(({ role }) => role !== "summary").length < least) return undefined;
  const frees = whole === "asked" || (await countTokens(run, ...promptTextsOfPath(replaced))) > behind;
  return frees ? path[last]?.id : undefined;
}

/** Tokens for the newest messages after a summary, and tokens of the text that the program appends to the summary. */
async function roomBehind(
  run: TurnRun,
  last: Message | undefined,
  whole: VerbatimShare,
): Promise<{ readonly newest: number; readonly behind: number }> {
  if (last === undefined) return { newest: 0, behind: 0 };
  const room = await contextRoom(run);
  if (whole === "asked") {
    const shown = await countTokens(run, ...promptTextsOfPath(run.branch.path));
    const rest = SHARES.all - SHARES.summary - SHARES.words - SHARES.state;
    return { newest: Math.min(room, shown) * rest, behind: 0 };
  }
  const behind = await summaryTokens(run, "", await contentKeptBySummary(run, last.id));
  const newest = room * SHARES.all - summaryBound(room) - behind;
  return { newest: whole === "half" ? newest / 2 : newest, behind };
}

/** Returns the index on the path of the first unanswered message: a new message, or a response with unread results. */
async function unansweredFrom(run: TurnRun): Promise<number> {
  const { path } = run.branch;
  const from = path.findLastIndex(({ role }) => role === "assistant") + 1;
  const response = path[from - 1];
  if (response?.role !== "assistant" || response.calls.length === 0) return from;
  if (!isSettled(response)) return from - 1;
  // Results that leave no room for anything else are covered too.
  const open = promptTextsOfPath(path.slice(from - 1));
  const isTooMuch = (await countTokens(run, ...open)) > (await contextRoom(run)) * (1 - SHARES.all);
  return isTooMuch ? from : from - 1;
}
