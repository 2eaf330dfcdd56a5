import { createId } from "../conversation/id.ts";
import { type Message, textOf } from "../conversation/message.ts";
import { cutTo } from "../conversation/shown/visible-text.ts";
import { afterSummary, isSummary } from "../conversation/tree/path.ts";
import { addCost, addUsage, type Cost, noUsage, type Usage } from "../conversation/usage.ts";
import { askModel, type ModelResponse } from "../model/ask-model.ts";
import { type ModelDriver, ModelError, type PromptMessage } from "../ports/model.ts";
import type { Shortened } from "../ports/tool.ts";
import { type TurnRun, tellModel } from "../run/run.ts";
import { messageOf } from "../toolbox/execute.ts";
import { rememberSummary } from "./recall.ts";
import { estimate, mostOf, takenBy, textsIn, tokensOf } from "./tokens.ts";

/** At the most this many of the last messages stay word for word, and no more than a fifth of the context. */
const KEPT = 6;
const KEPT_SHARE = 0.2;

/** Summaries that may fail in one turn before nobody asks for another one. */
const FAILURES = 2;

export const SHORTEN = "shorten_conversation";

const REQUEST = `Sum up the conversation above, so that you can go on without it. Write down all that still counts: what the person wants, in their words where these matter; what was decided, and why; what was found, with names, paths and numbers; which files were changed, and how; what is being done now, and what is left to do. Leave out what is settled and of no further use. Answer with the summary alone; call no tool.`;

/**
 * Sees to it that the next request fits the model: reminds the model in time, and shortens the conversation when it
 * must.
 */
export async function makeRoom(run: TurnRun, model: ModelDriver): Promise<void> {
  const { compaction, toolbox } = run.agent;
  if (compaction?.contextSize === undefined) return;
  const { contextSize, threshold, hint, count } = compaction;
  const taken = takenBy(run.branch.path, run.agent);
  // As a rule there is room enough, whatever counts: then nothing is.
  if (mostOf(taken) < contextSize * Math.min(hint, threshold)) return;
  const tokens = await untilAborted(run, (signal) => tokensOf(taken, count, signal));
  if (tokens === undefined) return;
  const share = tokens / contextSize;
  if (share >= threshold) {
    await shorten(run, model, "the context is nearly full");
  } else if (share >= hint && toolbox.find(SHORTEN) && !isReminded(run)) {
    const percent = Math.round(share * 100);
    await tellModel(
      run,
      `The conversation fills ${percent} % of your context. When it suits you, call ${SHORTEN}; at ${Math.round(threshold * 100)} % it is summed up for you.`,
    );
  }
}

/** A request that fills this much of the context and is refused without a reason is taken to be too long. */
const NEARLY_FULL = 0.9;

/** Whether a model refused a request because it is too long, by its words or, where it has none for it, by its size. */
export async function isTooLong(run: TurnRun, { code, status }: ModelError): Promise<boolean> {
  if (code === "context-overflow") return true;
  const { contextSize, count } = run.agent.compaction ?? {};
  if (code !== "invalid-request" || status !== 400 || contextSize === undefined || !count) return false;
  const taken = takenBy(run.branch.path, run.agent);
  if (mostOf(taken) < contextSize * NEARLY_FULL) return false;
  const tokens = await untilAborted(run, (signal) => tokensOf(taken, count, signal));
  return tokens !== undefined && tokens >= contextSize * NEARLY_FULL;
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
  { last = KEPT, wanted }: { readonly last?: number; readonly wanted?: string } = {},
): Promise<string | undefined> {
  const { session, branch, agent, origin, signal, progress } = run;
  if (!agent.compaction) return "Compaction is switched off.";
  const covers = await untilAborted(run, () => coveredBy(run, branch.path.length, last));
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

/**
 * Asks for a text with the head of all requests of the turn, so that what was said is read from the provider's cache: for
 * Anthropic, whether tools may be called is part of that. A model that calls one all the same is asked again, and may not.
 * Each response is `counted`, also where the next one fails.
 */
async function askForText(
  { agent, signal }: TurnRun,
  model: ModelDriver,
  messages: readonly PromptMessage[],
  counted: (response: ModelResponse) => void,
): Promise<ModelResponse> {
  const { instructions, toolbox, settings, retry } = agent;
  const request = { instructions: instructions.text, tools: toolbox.schemas, settings, messages };
  const ask = async (toolChoice: "auto" | "none") => {
    const response = await askModel(model, { ...request, toolChoice }, { signal, idle: retry.idle });
    counted(response);
    return response;
  };
  const first = await ask("auto");
  return first.finish === "calls" ? ask("none") : first;
}

/** What several responses took together. */
function sumOf(responses: readonly ModelResponse[]): { readonly usage: Usage; readonly cost: Cost } {
  return {
    usage: responses.map(({ usage }) => usage).reduce(addUsage, noUsage),
    cost: responses.map(({ cost }) => cost).reduce(addCost, 0),
  };
}

const EMPTY = "The summary is empty, so nothing was shortened.";
const TOO_LONG = "The summary is longer than what it would stand for, so nothing was shortened.";
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
async function freedBy({ branch, agent, signal }: TurnRun, text: string, covers: string): Promise<Shortened> {
  const { path } = branch;
  const replaced = afterSummary(path.slice(0, path.findIndex(({ id }) => id === covers) + 1));
  const count = agent.compaction?.count ?? estimate;
  const tokensIn = (uncounted: readonly string[]) => tokensOf({ counted: 0, uncounted }, count, signal);
  const tokens = text.trim() === "" ? 0 : (await tokensIn(replaced.flatMap(textsIn))) - (await tokensIn([text]));
  return { messages: replaced.filter(({ role }) => role !== "summary").length, tokens };
}

async function putSummary(run: TurnRun, text: string, covers: string, spent?: ReturnType<typeof sumOf>): Promise<void> {
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
 * Asks for the summary of a prompt; of one that is too long even for that, with its results cut, and then of its newer
 * half.
 */
async function summaryOf<Response>(
  prompt: readonly PromptMessage[],
  request: PromptMessage,
  ask: (messages: readonly PromptMessage[]) => Promise<Response>,
): Promise<Response> {
  const tries = [prompt, prompt.map(cutResults), prompt.map(cutResults).slice(-Math.ceil(prompt.length / 2))];
  for (const messages of tries) {
    try {
      return await ask([...messages, request]);
    } catch (error) {
      if (!(error instanceof ModelError) || error.code !== "context-overflow" || messages === tries.at(-1)) throw error;
    }
  }
  throw new Error("There is nothing to sum up.");
}

function requestFor(wanted: string | undefined): PromptMessage {
  const text =
    wanted === undefined ? REQUEST : `${REQUEST} Above all, keep what the person asks you to keep:\n${wanted}`;
  return { role: "user", parts: [{ type: "text", text }] };
}

/** Characters of a call's result that a summary is made from when the whole is too long. */
const RESULT_SHOWN = 1_000;

function cutResults(message: PromptMessage): PromptMessage {
  if (message.role === "user") return message;
  const results = message.results.map((result) => ({
    ...result,
    output: cutTo(result.output, RESULT_SHOWN, " [...]"),
  }));
  return { ...message, results };
}

/**
 * The last message of the first `end` ones on the path that a summary may cover: what nobody has responded to and the last
 * few messages stay as they are. Nothing when fewer than two would be covered.
 */
async function coveredBy({ branch, agent, signal }: TurnRun, end: number, keep = KEPT): Promise<string | undefined> {
  const { path } = branch;
  const { count = estimate, contextSize } = agent.compaction ?? {};
  // Of a context whose size nobody knows, what is there is the measure.
  const shown = () =>
    tokensOf({ counted: 0, uncounted: afterSummary(path.slice(0, end)).flatMap(textsIn) }, count, signal);
  const room = (contextSize ?? (await shown())) * KEPT_SHARE;
  let last = end - 1;
  let kept = 0;
  let tokens = 0;
  for (; last > 0; last--) {
    const message = path[last] as Message;
    tokens = await tokensOf({ counted: tokens, uncounted: textsIn(message) }, count, signal);
    const isOpen = path.slice(last).every(({ role }) => role !== "assistant");
    if (!isOpen && (kept >= keep || tokens > room)) break;
    kept++;
  }
  const before = path.findLastIndex(isSummary);
  const covered = path[last];
  return covered && last - before >= 2 ? covered.id : undefined;
}

/** What is counted, or nothing once the run is aborted: whoever aborted it says how it goes on. */
async function untilAborted<T>({ signal }: TurnRun, counting: (signal: AbortSignal) => Promise<T>) {
  try {
    return await counting(signal);
  } catch (error) {
    if (error !== signal.reason) throw error;
    return undefined;
  }
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
