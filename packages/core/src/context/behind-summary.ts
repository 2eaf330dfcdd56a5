import { isUserMessage, type KeptMessage, type Message, type SummaryMessage } from "../conversation/message.ts";
import { keptMessage, summaryTexts, userWords, wordsBlock } from "../conversation/shown/kept-words.ts";
import { isSummary, placeAfterForgotten } from "../conversation/tree/path.ts";
import { countDroppableLines, stateBlock, type WorkState, workStateOf } from "../past/state-block.ts";
import { taskResultIn } from "../run/mode.ts";
import type { TurnRun } from "../run/run.ts";
import { noteAfterSummary } from "./earlier.ts";
import { countContextTokens, estimate, promptTextsOfPath } from "./tokens.ts";

/** Largest share of the model's context for each part of a compacted conversation, from 0 to 1. */
export const SHARES = { all: 0.4, summary: 0.1, words: 0.12, message: 0.03, state: 0.05 } as const;

export function summaryBound(room: number): number {
  return Math.min(room * SHARES.summary, MOST_SUMMARY);
}

const MOST_SUMMARY = 8_000;

/** The parts that the program appends to the text of a summary (F86, F87). */
export type BehindSummary = Pick<SummaryMessage, "kept" | "leftOut" | "state" | "note">;

export function countTokens({ agent, signal }: TurnRun, ...uncounted: readonly string[]): Promise<number> {
  return countContextTokens({ counted: 0, uncounted }, agent.compaction?.count ?? estimate, signal);
}

/** Returns the window's tokens without instructions and tools, or the branch's tokens if the window is unknown. */
export async function contextRoom(run: TurnRun): Promise<number> {
  const { agent, branch } = run;
  const contextSize = agent.compaction?.contextSize;
  if (contextSize === undefined) return countTokens(run, ...promptTextsOfPath(branch.path));
  return Math.max(0, contextSize - (await countTokens(run, agent.instructions.text, agent.toolbox.text)));
}

/** Returns the parts that follow a summary: the user's words, the plan, files, processes and other facts. */
export async function contentKeptBySummary(run: TurnRun, covers: string): Promise<BehindSummary> {
  const { branch, session } = run;
  const { path } = branch;
  const room = await contextRoom(run);
  const before = path.findLast((message) => isSummary(message) && message.state !== undefined) as
    | SummaryMessage
    | undefined;
  // A complete path contains the whole state. The block of the last summary has the state of forgotten messages.
  const work = workStateOf(session.state, path, isWhole(path) ? undefined : before?.state);
  const state = await boundedState(run, work, room * SHARES.state);
  const { kept, leftOut } = await chooseKeptMessages(run, covers, room);
  const note = noteAfterSummary(run.agent.toolbox.earlierReaders);
  return { ...(kept.length > 0 && { kept }), ...(leftOut > 0 && { leftOut }), ...(state !== "" && { state }), note };
}

function isWhole(path: readonly Message[]): boolean {
  return placeAfterForgotten(path) < 0;
}

/** Counts the tokens that replace the covered messages: the summary, and the parts that follow it. */
export function summaryTokens(run: TurnRun, text: string, behind: BehindSummary): Promise<number> {
  const base = { id: "", parentId: null, createdAt: 0, role: "summary", covers: "" } as const;
  return countTokens(run, ...summaryTexts({ ...base, parts: [{ type: "text", text }], ...behind }, run.branch.path));
}

async function boundedState(run: TurnRun, work: WorkState, most: number): Promise<string> {
  const fits = async (left: number) => (await countTokens(run, stateBlock(work, left))) <= most;
  let [least, enough] = [0, countDroppableLines(work)];
  if (!(await fits(enough))) return "";
  while (least < enough) {
    const middle = Math.floor((least + enough) / 2);
    if (await fits(middle)) enough = middle;
    else least = middle + 1;
  }
  return stateBlock(work, enough);
}

/** Tokens for one message in a window that is too small for anything else. */
const LEAST = 50;

/**
 * Returns the user messages whose words are kept: the task, the first message, then the newest messages that fit. Stops
 * at the first message without room: an instruction must not be kept without its later correction.
 */
async function chooseKeptMessages(
  run: TurnRun,
  covers: string,
  room: number,
): Promise<{ kept: KeptMessage[]; leftOut: number }> {
  const { path } = run.branch;
  const said = coveredUserMessages(run, covers);
  let shown = await filledWords(run, said, room, 1);
  // Pasted logs must not displace short instructions.
  if (shown.size < said.length) shown = await filledWords(run, said, room, 0.5);
  const kept = said.flatMap(({ id }) => shown.get(id) ?? []);
  return { kept, leftOut: said.length - kept.length + (isWhole(path) ? 0 : leftOutBefore(path, said)) };
}

/** `shrinking`: each cut message has this share of the length of the next newer message. */
async function filledWords(
  run: TurnRun,
  said: readonly Message[],
  room: number,
  shrinking: number,
): Promise<Map<string, KeptMessage>> {
  const [first, task] = [said[0], taskOf(run)];
  const order = new Set([task, first, ...said.toReversed()].filter((message) => message !== undefined));
  const covered = new Set(said);
  const shown = new Map<string, KeptMessage>();
  let left = room * SHARES.words - (await countTokens(run, wordsBlock(said.length, [])));
  const most = Math.max(room * SHARES.message, LEAST);
  let cut = most;
  for (const message of order) {
    if (!covered.has(message)) continue;
    const isFirst = message === task || message === first;
    let fitted = await cutToFit(run, message, most);
    if (!isFirst && fitted.kept.characters !== undefined) {
      fitted = await cutToFit(run, message, cut);
      cut = Math.max(cut * shrinking, LEAST);
    }
    if (fitted.tokens > left && !isFirst) break;
    left -= fitted.tokens;
    shown.set(message.id, fitted.kept);
  }
  return shown;
}

/** Returns the user messages that a summary down to `covers` covers; in a sub-agent also its task. */
function coveredUserMessages({ branch: { path }, call }: TurnRun, covers: string): Message[] {
  const covered = path.slice(0, path.findIndex(({ id }) => id === covers) + 1);
  return covered.filter(
    (message, index) =>
      (isUserMessage(message) || (index === 0 && call !== undefined)) &&
      message.unreadable === undefined &&
      !message.removed &&
      userWords(message) !== "",
  );
}

/** Returns the message with the task of a run or sub-agent; nothing in a chat. */
function taskOf({ agent, branch: { path }, call, from }: TurnRun): Message | undefined {
  if (call !== undefined) return path[0];
  if (agent.mode.name !== "task") return undefined;
  let task: Message | undefined;
  for (let index = Math.min(from, path.length - 1); index >= 0; index--) {
    const message = path[index] as Message;
    if (isUserMessage(message)) task = message;
    // A run that continues another run's turn has no message of its own.
    else if (task && message.role === "assistant" && isLastOfTurn(message)) break;
  }
  return task;
}

function isLastOfTurn(message: Extract<Message, { role: "assistant" }>): boolean {
  return taskResultIn(message) !== undefined || (message.finish === "stop" && message.calls.length === 0);
}

function leftOutBefore(path: readonly Message[], said: readonly Message[]): number {
  const before = path.findLast((message) => isSummary(message) && message.leftOut !== undefined) as
    | SummaryMessage
    | undefined;
  if (before === undefined) return 0;
  const kept = new Set(before.kept?.map(({ message }) => message));
  const covered = new Set(path.slice(0, path.findIndex(({ id }) => id === before.covers) + 1));
  const here = said.filter((message) => covered.has(message) && !kept.has(message.id));
  return Math.max(0, (before.leftOut ?? 0) - here.length);
}

/** No tokenizer puts more characters into one token, so longer texts need no count. */
const MOST_CHARACTERS = 32;

async function cutToFit(run: TurnRun, message: Message, most: number): Promise<{ kept: KeptMessage; tokens: number }> {
  const { length } = userWords(message);
  let characters = Math.min(length, Math.floor(most * MOST_CHARACTERS));
  let tokens = await countTokens(run, keptMessage(message, characters));
  while (tokens > most && characters > 0) {
    characters = Math.floor(Math.min(characters * 0.9, (characters * most) / tokens));
    tokens = await countTokens(run, keptMessage(message, characters));
  }
  return { kept: { message: message.id, ...(characters < length && { characters }) }, tokens };
}
