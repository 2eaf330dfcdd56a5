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
import type { Shortened } from "../ports/tool.ts";
import type { TurnRun } from "../run/run.ts";
import { behindSummary, countTokens, roomOf, SHARES, standingTokens, summaryBound } from "./behind-summary.ts";
import { rememberSummary } from "./recall.ts";
import { estimate, shownTexts, takenBy, textsIn, tokensOf } from "./tokens.ts";

const EMPTY = "The summary is empty, so nothing was shortened.";
export const TOO_LONG = "The summary is longer than what it would stand for, so nothing was shortened.";
const NOTHING_EARLIER =
  "Nothing was shortened: what nobody has answered and the last few messages stay as they are, and there is too little before them.";

/**
 * Keeps a summary that a call of the response `message` has written, of all that was said before; it takes effect once the
 * step is over. Returns what it will free. Rejects, and tells the feed, when it frees nothing.
 */
export async function planSummary(run: TurnRun, message: string, text: string): Promise<Shortened> {
  const { session, branch, origin } = run;
  const response = branch.path.findIndex(({ id }) => id === message);
  const covers = await coveredBy(run, response, "asked");
  const freed = covers === undefined ? undefined : await freedBy(run, text, covers);
  if (covers !== undefined && freed && freed.tokens > 0) {
    run.progress.planSummary({ text, covers });
    return freed;
  }
  const reason = text.trim() === "" ? EMPTY : freed ? TOO_LONG : NOTHING_EARLIER;
  session.notify({ type: "context.not-shortened", run: run.id, leaf: branch.leaf, reason }, origin);
  throw new Error(reason);
}

/**
 * Returns what a summary text frees that stands for all down to `covers`. An empty text frees nothing; nor does a text that is longer than
 * what it stands for.
 */
export async function freedBy(run: TurnRun, text: string, covers: string): Promise<Shortened> {
  const { path } = run.branch;
  const covered = path.slice(0, path.findIndex(({ id }) => id === covers) + 1);
  const messages = afterSummary(covered).filter(({ role }) => role !== "summary").length;
  if (text.trim() === "") return { messages, tokens: 0 };
  const shown = await countTokens(run, ...shownTexts(covered));
  const saved = shown - (await countTokens(run, text));
  if (saved <= 0) return { messages, tokens: saved };
  // In a short conversation the words of the user may be most of it.
  return { messages, tokens: Math.max(1, shown - (await standingTokens(run, text, await behindSummary(run, covers)))) };
}

/** Details of a summary beside its text. */
interface SummaryDetails {
  /** Usage and cost of the model that wrote it. */
  readonly spent?: { readonly usage: Usage; readonly cost: Cost } | undefined;
  /** Results of calls behind what it covers that are shown shortened from now on. */
  readonly shortened?: readonly ShortenedResult[];
  /** The program wrote it: no memory keeps it. */
  readonly isOwn?: boolean;
}

/** Puts a summary at the end of the branch, with the words of the user and the state of the work as they are now. */
export async function putSummary(
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
    ...(await behindSummary(run, covers)),
    ...(shortened.length > 0 ? { shortened } : {}),
  };
  const compaction = await compactionBy(run, { ...summary, createdAt: 0 });
  const event = { type: "message.added", message, run: run.id, ...summary, compaction } as const;
  await session.commit([spent ? { ...event, usage: spent.usage, ...cost } : event], { durable: true, origin });
  branch.extend(message);
  if (!isOwn) rememberSummary(run, text);
}

/** Returns the sizes of the next request without and with a summary, for users. */
async function compactionBy(run: TurnRun, summary: Omit<SummaryMessage, "id">): Promise<CompactionResult> {
  const { agent, branch, signal } = run;
  const { count = estimate, contextSize: size } = agent.compaction ?? {};
  const { path } = branch;
  const covered = path.slice(0, path.findIndex(({ id }) => id === summary.covers) + 1);
  const messages = afterSummary(covered).filter(({ role }) => role !== "summary").length;
  const before = await tokensOf(takenBy(run), count, signal);
  // Counted alike: the provider's count of the request before may differ from ours.
  const freed =
    (await countTokens(run, ...shownTexts(path))) -
    (await countTokens(run, ...shownTexts([...path, { ...summary, id: "" }])));
  const after = Math.max(0, before - freed);
  return { messages, before: Math.round(before), after: Math.round(after), ...(size && { size }) };
}

/**
 * Messages that a summary leaves whole, beside those that nobody has answered. `newest`: as far as the room allows. `half`: half
 * of these; the other half is for what comes while the summary is made in the background. `asked`, for a summary that a user
 * or the model asked for: as far as a like part of what is there.
 */
export type LeftWhole = "newest" | "half" | "asked";

/**
 * The last message of the first `end` ones on the path that a summary may cover; nothing when fewer than `least` would be
 * covered. What nobody has answered stays as it is, and so do the newest messages: as many as fit beside the summary, the words of the
 * user and the state.
 */
export async function coveredBy(run: TurnRun, end: number, whole: LeftWhole, least = 2): Promise<string | undefined> {
  const { path } = run.branch;
  const before = path.findLastIndex(isSummary);
  let last = (end < path.length ? end : await unansweredFrom(run)) - 1;
  const { newest, behind } = await roomBehind(run, path[end - 1], whole);
  const shown = new Map(afterSummary(path).map((message) => [message.id, message]));
  for (let left = newest; last > Math.max(before, 0); last--) {
    const message = shown.get((path[last] as Message).id);
    left -= message ? await countTokens(run, ...textsIn(message)) : 0;
    if (left < 0) break;
  }
  // A summary that nobody has answered yet has nothing behind it to cover.
  if (last < before) return undefined;
  const replaced = path.slice(0, last + 1);
  if (afterSummary(replaced).filter(({ role }) => role !== "summary").length < least) return undefined;
  const frees = whole === "asked" || (await countTokens(run, ...shownTexts(replaced))) > behind;
  return frees ? path[last]?.id : undefined;
}

/** Tokens that the newest messages may have behind a summary, and tokens of what the program puts behind it. */
async function roomBehind(
  run: TurnRun,
  last: Message | undefined,
  whole: LeftWhole,
): Promise<{ readonly newest: number; readonly behind: number }> {
  if (last === undefined) return { newest: 0, behind: 0 };
  const room = await roomOf(run);
  if (whole === "asked") {
    const shown = await countTokens(run, ...shownTexts(run.branch.path));
    const rest = SHARES.all - SHARES.summary - SHARES.words - SHARES.state;
    return { newest: Math.min(room, shown) * rest, behind: 0 };
  }
  const behind = await standingTokens(run, "", await behindSummary(run, last.id));
  const newest = room * SHARES.all - summaryBound(room) - behind;
  return { newest: whole === "half" ? newest / 2 : newest, behind };
}

/**
 * Returns the index on the path of the first message that nobody has answered: a new message, or a response whose results nobody
 * has read.
 */
async function unansweredFrom(run: TurnRun): Promise<number> {
  const { path } = run.branch;
  const from = path.findLastIndex(({ role }) => role === "assistant") + 1;
  const response = path[from - 1];
  if (response?.role !== "assistant" || response.calls.length === 0) return from;
  if (!isSettled(response)) return from - 1;
  // Results that leave no room for anything else are part of what is summed up.
  const open = shownTexts(path.slice(from - 1));
  const isTooMuch = (await countTokens(run, ...open)) > (await roomOf(run)) * (1 - SHARES.all);
  return isTooMuch ? from : from - 1;
}
