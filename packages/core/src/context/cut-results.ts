import { createId } from "../conversation/id.ts";
import { outputForModel, type ShortenedResult, type SummaryMessage } from "../conversation/message.ts";
import { cutInMiddle } from "../conversation/shown/visible-text.ts";
import { afterSummary } from "../conversation/tree/path.ts";
import type { TurnRun } from "../run/run.ts";
import { countContextTokens, estimate, untilAborted } from "./tokens.ts";

const LEAST = 200;

/**
 * Cuts results in the middle, the longest first, until the visible results fit. The log and other branches keep the
 * full results. Returns true if any result was cut. Rejects with the reason of the run's signal.
 * @param budgetOf Returns the allowed tokens of all results, given their current tokens.
 * @param from Index on the path of the first message whose results may be cut.
 */
export async function cutResults(run: TurnRun, budgetOf: (tokens: number) => number, from = 0): Promise<boolean> {
  const { branch, agent, signal } = run;
  const count = agent.compaction?.count ?? estimate;
  const movable = new Set(branch.path.slice(from).map(({ id }) => id));
  const results: { readonly call: string; readonly output: string; readonly tokens: number }[] = [];
  for (const message of afterSummary(branch.path)) {
    if (message.role !== "assistant" || !movable.has(message.id)) continue;
    for (const asked of message.calls) {
      const { id: call } = asked;
      const output = outputForModel(asked);
      if (output.length <= LEAST) continue;
      results.push({
        call,
        output,
        tokens: await countContextTokens({ counted: 0, uncounted: [output] }, count, signal),
      });
    }
  }
  const sizes = results.map(({ tokens }) => tokens);
  const most = shareOf(sizes, budgetOf(sizes.reduce((sum, size) => sum + size, 0)));
  const shortened: ShortenedResult[] = [];
  for (const { call, output, tokens } of results) {
    if (tokens <= most) continue;
    const text = await fittingResult(output, tokens, most, (cut) =>
      countContextTokens({ counted: 0, uncounted: [cut] }, count, signal),
    );
    if (text.length < output.length) shortened.push({ call, text });
  }
  if (shortened.length === 0) return false;
  const calls = shortened.length === 1 ? "The result of one call was" : `The results of ${shortened.length} calls were`;
  await addShortening(run, `${calls} shortened to fit the model's context.`, shortened);
  return true;
}

/** Cuts a result of this many tokens to at most `most`. Its ends may have more tokens per character than its middle. */
async function fittingResult(
  output: string,
  tokens: number,
  most: number,
  count: (text: string) => Promise<number>,
): Promise<string> {
  for (let [characters, counted] = [output.length, tokens]; ; ) {
    characters = Math.max(LEAST, Math.floor(characters * Math.min(0.99, most / counted)));
    const text = cutInMiddle(output, characters, (cut) => `[${cut} characters were cut here to fit your context]`);
    counted = await count(text);
    if (counted <= most || characters === LEAST) return text;
  }
}

const NEWEST = 0.3;

/** Cuts results that the model has not read yet, so that they fit beside a summary. Returns true if any was cut. */
export async function cutNewestResults(run: TurnRun): Promise<boolean> {
  const { contextSize } = run.agent.compaction ?? {};
  const { path } = run.branch;
  const newest = path.findLastIndex(({ role }) => role === "assistant");
  if (contextSize === undefined || newest < 0) return false;
  return (await untilAborted(run, () => cutResults(run, () => contextSize * NEWEST, newest))) ?? false;
}

/** Appends a message. When the model reads the path, this message shortens results or messages before it. */
export async function addShortening(
  { id: run, session, branch, origin }: TurnRun,
  text: string,
  shortened: NonNullable<SummaryMessage["shortened"]>,
): Promise<void> {
  const message = createId();
  const added = { type: "message.added", message, parentId: branch.leaf, role: "summary", run } as const;
  await session.commit([{ ...added, parts: [{ type: "text", text }], shortened }], { durable: true, origin });
  branch.extend(message);
}

/** Maximum tokens per result so that all results fit into `budget`: shorter results leave their rest to longer ones. */
function shareOf(sizes: readonly number[], budget: number): number {
  let left = Math.max(0, budget);
  const rising = [...sizes].sort((a, b) => a - b);
  for (const [index, size] of rising.entries()) {
    const share = left / (rising.length - index);
    if (size > share) return share;
    left -= size;
  }
  return Number.POSITIVE_INFINITY;
}
