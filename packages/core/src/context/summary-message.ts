import { createId } from "../conversation/id.ts";
import type { Message } from "../conversation/message.ts";
import { afterSummary, isSummary } from "../conversation/tree/path.ts";
import type { Cost, Usage } from "../conversation/usage.ts";
import type { Shortened } from "../ports/tool.ts";
import type { TurnRun } from "../run/run.ts";
import { rememberSummary } from "./recall.ts";
import { estimate, textsIn, tokensOf } from "./tokens.ts";

/** At the most this many of the last messages stay word for word, and no more than a fifth of the context. */
export const KEPT = 6;
const KEPT_SHARE = 0.2;

export const EMPTY = "The summary is empty, so nothing was shortened.";
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
  const covers = await coveredBy(run, response);
  const freed = covers === undefined ? undefined : await freedBy(run, text, covers);
  if (covers !== undefined && freed && freed.tokens > 0) {
    run.progress.planSummary({ text, covers });
    return freed;
  }
  const reason = text.trim() === "" ? EMPTY : freed ? TOO_LONG : NOTHING_EARLIER;
  session.notify({ type: "context.not-shortened", run: run.id, leaf: branch.leaf, reason }, origin);
  throw new Error(reason);
}

/** Puts the summary that a call of this step wrote in its place. */
export async function useSummary(run: TurnRun): Promise<void> {
  const summary = run.progress.takeSummary();
  if (summary) await putSummary(run, summary.text, summary.covers);
}

/** What is shown to the model no more once a text stands for all down to `covers`. An empty one frees nothing. */
export async function freedBy({ branch, agent, signal }: TurnRun, text: string, covers: string): Promise<Shortened> {
  const { path } = branch;
  const replaced = afterSummary(path.slice(0, path.findIndex(({ id }) => id === covers) + 1));
  const count = agent.compaction?.count ?? estimate;
  const tokensIn = (uncounted: readonly string[]) => tokensOf({ counted: 0, uncounted }, count, signal);
  const tokens = text.trim() === "" ? 0 : (await tokensIn(replaced.flatMap(textsIn))) - (await tokensIn([text]));
  return { messages: replaced.filter(({ role }) => role !== "summary").length, tokens };
}

export async function putSummary(
  run: TurnRun,
  text: string,
  covers: string,
  spent?: { readonly usage: Usage; readonly cost: Cost },
): Promise<void> {
  const { session, branch, origin } = run;
  const message = createId();
  const cost = spent?.cost === undefined ? {} : { cost: spent.cost };
  await session.commit(
    [
      {
        type: "message.added",
        message,
        parentId: branch.leaf,
        role: "summary",
        covers,
        run: run.id,
        parts: [{ type: "text", text }],
        ...(spent ? { usage: spent.usage, ...cost } : {}),
      },
    ],
    { durable: true, origin },
  );
  branch.extend(message);
  rememberSummary(run, text);
}

/**
 * The last message of the first `end` ones on the path that a summary may cover: what nobody has responded to and the last
 * few messages stay as they are. Nothing when fewer than `least` would be covered.
 */
export async function coveredBy(
  { branch, agent, signal }: TurnRun,
  end: number,
  keep = KEPT,
  least = 2,
): Promise<string | undefined> {
  const { path } = branch;
  const { count = estimate, contextSize } = agent.compaction ?? {};
  // Of a context whose size nobody knows, what is there is the measure.
  const shown = () =>
    tokensOf({ counted: 0, uncounted: afterSummary(path.slice(0, end)).flatMap(textsIn) }, count, signal);
  const room = (contextSize ?? (await shown())) * KEPT_SHARE;
  let last = end - 1;
  let kept = 0;
  let tokens = 0;
  for (; last >= 0; last--) {
    const message = path[last] as Message;
    tokens = await tokensOf({ counted: tokens, uncounted: textsIn(message) }, count, signal);
    const isOpen = path.slice(last).every(({ role }) => role !== "assistant");
    if (!isOpen && (kept >= keep || tokens > room)) break;
    kept++;
  }
  const before = path.findLastIndex(isSummary);
  const covered = path[last];
  return covered && last - before >= least ? covered.id : undefined;
}
