import { goOnWithCalls } from "../calls/open-calls.ts";
import { giveUpSummary } from "../context/background-summary.ts";
import { SHORTEN } from "../context/compaction.ts";
import { recallInto, rememberTurn } from "../context/recall.ts";
import { planSummary } from "../context/summary-message.ts";
import { CUT_OFF } from "../conversation/broken-turn.ts";
import type { EventBody, MessageAdded, RunEnd } from "../conversation/event.ts";
import { createId } from "../conversation/id.ts";
import {
  type AssistantMessage,
  isPersons,
  type Json,
  type Message,
  textOf,
  type UserPart,
} from "../conversation/message.ts";
import type { ConversationState, OpenQuestion, StayingProcess, WaitingInput } from "../conversation/state.ts";
import { askingRuns, openLimit } from "../conversation/tree/asking.ts";
import { deliver, stillWaiting } from "../conversation/tree/inbox.ts";
import type { Cost, Usage } from "../conversation/usage.ts";
import { processesOf } from "../past/state-block.ts";
import type { Branch } from "../run/branch.ts";
import { type Budget, checkPrice, LimitError, type Limits } from "../run/limits.ts";
import type { Ending, TurnProblem } from "../run/mode.ts";
import { finishedWith } from "../run/mode.ts";
import { newRun, type TurnWatch } from "../run/new-run.ts";
import { assistantMessage, type TurnAgent, type TurnRun, tell } from "../run/run.ts";
import { isLeft, noInput, SESSION_CLOSED, SessionError } from "../session/error.ts";
import type { RunHandle } from "../session/runs.ts";
import type { Session } from "../session/session.ts";
import { messageOf } from "../toolbox/execute.ts";
import { ChosenModel } from "./chosen-model.ts";
import { reportedLoop } from "./reported-loop.ts";
import { stepLoop } from "./step-loop.ts";

/** What a turn begins with: a new user message below `parentId`, what waited to be delivered, or nothing new. */
export type TurnStart =
  | {
      readonly type: "message";
      readonly parentId: string | null;
      readonly parts: readonly UserPart[];
      /** Of the message; a new one when absent. */
      readonly id?: string;
    }
  | { readonly type: "inputs"; readonly parentId: string | null; readonly inputs: readonly WaitingInput[] }
  /** `again`: the last user message is answered once more, beside what is there. */
  | { readonly type: "here"; readonly leaf: string | null; readonly again?: true };

/** The message at which a turn begins. */
export function placeOf(start: TurnStart): string | null {
  return start.type === "here" ? start.leaf : start.parentId;
}

/** What became of a turn. */
export interface Turn {
  /** The id of its run. */
  readonly id: string;
  /**
   * How it ended: `answered`, `finished` (a task), `limit`, `failed` or `interrupted`; `waiting`: its reader or its session went
   * while a user was asked, and `resume()` continues it.
   */
  readonly reason: RunEnd;
  /** Its last response; absent when the model said nothing at all. */
  readonly message: AssistantMessage | undefined;
  /** The text of that response; when a limit ended the turn without one, a sentence that says so. */
  readonly text: string;
  /** What a task was finished with, as the model wrote it: a text, or JSON that fits the agent's `output`. */
  readonly result: Json | undefined;
  /** Of all model calls of the turn, abandoned ones and those of the turns before whose limits it shares included. */
  readonly usage: Usage;
  /** US dollars, of the same; `undefined` when the price of a model is not known. */
  readonly cost: Cost;
  /** Steps that were begun; the last word at a limit is none. */
  readonly steps: number;
  /** The limit that ended it, in words, when `reason` is `limit`. */
  readonly limit: string | undefined;
  /** What waits for a user when `reason` is `waiting`, in the order in which it was asked; else nothing. */
  readonly questions: readonly OpenQuestion[];
  /** Why it failed; also when a limit with policy `fail` ended it. */
  readonly error: TurnProblem | undefined;
}

/** A turn that has ended, and what it used of its limits. */
export interface EndedTurn {
  readonly turn: Turn;
  readonly budget: Budget;
}

/**
 * Runs one turn: steps until the model asks for no call, a limit is reached, the model fails or somebody interrupts.
 * However it ends, the conversation is usable and the run has ended in the log. Throws `LimitError` before anything
 * happened when the limits cannot be held, and `SessionError` when the session can no longer write, or (`no-input`) when
 * all that was to be delivered was withdrawn, or delivered elsewhere, before the turn could begin.
 */
export async function runTurn(
  handle: RunHandle,
  session: Session,
  agent: TurnAgent,
  branch: Branch,
  start: TurnStart,
  watch: TurnWatch,
): Promise<EndedTurn> {
  checkLimits(agent.limits);
  checkPrice(agent.limits, agent.model);
  const { model } = agent;
  const chosen = new ChosenModel(watch.chosenModel);
  const fresh = newRun(handle, session, agent, branch, watch);
  // The log names the model that the run begins with.
  const { run } = "run" in model ? { run: fresh } : await chosen.now({ run: fresh, model });
  await begin(run, start);
  handle.started();
  const ending = await takeSteps(run, start, chosen).catch((cause: unknown): Ending => {
    if (cause instanceof SessionError) throw cause;
    return { reason: "failed", error: { code: "defect", message: messageOf(cause), cause } };
  });
  return { turn: await end(run, ending), budget: run.budget };
}

async function takeSteps(run: TurnRun, start: TurnStart, chosen: ChosenModel): Promise<Ending> {
  const { model, memory, mode } = run.agent;
  if (memory && start.type !== "here") await recallInto(run, memory);
  await goOnWithCalls(run);
  await planSummaryAgain(run);
  if (run.continues !== undefined) await closeLimit(run);
  if (start.type === "here" && mode.name === "task" && !run.progress.finished) finishAsBefore(run);
  return "run" in model ? reportedLoop(run, model) : stepLoop({ run, model }, chosen);
}

async function begin(run: TurnRun, start: TurnStart): Promise<void> {
  const { session, agent, branch } = run;
  const { instructions, toolbox } = agent;
  const events: EventBody[] = [];
  for (const { digest, text } of [instructions, toolbox]) {
    if (!session.state.contents.has(digest)) events.push({ type: "content.stored", digest, text });
  }
  let leaf = branch.leaf;
  // A turn that goes on after a restart is told too: a summary may list the process as running (F87).
  const ended = start.type === "here" && start.again ? [] : endedOn(session.state, branch.path);
  const told = ended.length === 0 ? undefined : createId();
  if (told !== undefined && start.type !== "here") events.push(toldOfEnd(told, start.parentId, ended));
  if (start.type === "message") {
    leaf = start.id ?? createId();
    events.push({
      type: "message.added",
      message: leaf,
      parentId: told ?? start.parentId,
      role: "user",
      author: "user",
      parts: start.parts,
    });
  }
  if (start.type === "inputs") {
    const inputs = stillWaiting(session.state, start.inputs);
    const last = inputs.at(-1);
    if (!last) throw noInput(start.inputs[0]?.id ?? "");
    events.push(...deliver(inputs, told ?? start.parentId));
    leaf = last.id;
  }
  const { settings, limits, model, name, mode } = agent;
  events.push({
    type: "run.started",
    run: run.id,
    agent: name,
    model: model.id,
    settings,
    limits,
    mode: mode.name,
    instructions: instructions.digest,
    tools: toolbox.digest,
    leaf,
    ...(run.call === undefined ? {} : { call: run.call }),
    ...(ended.length > 0 && { processes: ended.map(({ id }) => id) }),
    ...(run.continues !== undefined && { continues: run.continues }),
    ...(run.before && { before: run.before }),
  });
  if (told !== undefined && start.type === "here") events.push({ ...toldOfEnd(told, leaf, ended), run: run.id });
  // One commit: in two, a crash between them leaves "delete the old logs" in the tree and no run that was interrupted, a message
  // that nobody answers, and nothing that says why.
  await session.commit(events, { durable: true, origin: run.origin });
  for (const event of events) if (event.type === "message.added") branch.extend(event.message);
}

/** What the model began on this branch and has not been told the end of. */
function endedOn(state: ConversationState, path: readonly Message[]): StayingProcess[] {
  return processesOf(state, path).filter(({ outcome }) => outcome !== undefined);
}

function toldOfEnd(message: string, parentId: string | null, ended: readonly StayingProcess[]): MessageAdded {
  const lines = ended.map(({ id, title, outcome }) => `${id} (${title}) has ended: ${outcome}.`);
  const parts = [{ type: "text", text: lines.join("\n") }] as const;
  return { type: "message.added", message, parentId, role: "user", author: "system", parts };
}

/** A limit that a user was asked about in another process, and that the turn is not at any more: nobody needs to answer. */
async function closeLimit({ id: run, session, budget, origin }: TurnRun): Promise<void> {
  const open = openLimit(session.state, run);
  if (!open || budget.exhausted() !== undefined) return;
  const question = open.id;
  await session.commit([{ type: "run.continued", run, question, allowed: true }], { durable: true, origin });
}

/** A task may have ended of which a process that is gone could not say so any more. */
function finishAsBefore({ branch, progress }: TurnRun): void {
  // Behind the response may stand what the turn is told of processes that ended.
  const last = branch.path.findLast((message) => message.role !== "user" || message.author !== "system");
  const result = last?.role === "assistant" ? finishedWith(last) : undefined;
  if (result !== undefined) progress.finish({ result, summary: undefined });
}

/**
 * Plans again the summary that a call of the last response wrote, if its process ended before the summary was in the log: while
 * a user was asked about another call, say.
 */
async function planSummaryAgain(run: TurnRun): Promise<void> {
  const response = run.branch.path.findLast(({ role }) => role !== "user");
  if (response?.role !== "assistant") return;
  const planned = response.calls.findLast(({ tool, status }) => tool === SHORTEN && status === "completed");
  const { summary } = (planned?.executedInput ?? planned?.input ?? {}) as { readonly summary?: Json };
  // Whoever watches was told why nothing is shortened.
  if (typeof summary === "string") await planSummary(run, response.id, summary).catch(() => {});
}

async function end(run: TurnRun, ending: Ending): Promise<Turn> {
  const { limit, error } = ending;
  const { session, agent, branch, budget, call, followers, begun, progress } = run;
  await begun.end();
  // A chat goes on, and uses the summary that is made meanwhile.
  if (ending.reason !== "answered" || agent.unattended || call !== undefined) await giveUpSummary(run);
  if (followers.size > 0) await followers.drop(endedBecause(run, ending.reason));
  budget.end();
  const reason = ending.reason === "interrupted" && waits(run) ? "waiting" : ending.reason;
  const ended = { type: "run.ended", run: run.id, reason, leaf: branch.leaf } as const;
  const why = error ?? (reason === "interrupted" && run.signal.reason === SESSION_CLOSED ? CUT_OFF : undefined);
  const { usage, cost, steps } = budget;
  const event = {
    ...ended,
    ...(why && { error: { code: why.code, message: why.message } }),
    ...(limit !== undefined && { limit }),
    spent: { steps, usage, ...(cost !== undefined && { cost }) },
  };
  await session.commit([event], { durable: true, origin: run.origin });
  const { finished } = progress;
  const message = lastMessageOf(branch.path, run);
  if (message && (reason === "answered" || reason === "finished" || reason === "limit"))
    await tell(run, "onAnswer", message);
  if (run.agent.memory) rememberTurn(run, run.agent.memory);
  // What a sub-agent does hangs on its parent: it is forgotten with that.
  if (run.call === undefined) branch.trim();
  return {
    id: run.id,
    reason,
    message,
    text: textAtEnd(finished?.result, message, limit),
    result: finished?.result,
    usage,
    cost,
    steps,
    limit,
    questions: reason === "waiting" ? questionsOf(run) : [],
    error,
  };
}

/** Whether a user is asked in the turn, and only the process that works on it goes. */
function waits(run: TurnRun): boolean {
  return run.survives && isLeft(run.signal) && questionsOf(run).length > 0;
}

function questionsOf({ id, session: { state } }: TurnRun): OpenQuestion[] {
  return [...state.questions.values()].filter((question) => askingRuns(state, question).includes(id));
}

function textAtEnd(result: Json | undefined, message: AssistantMessage | undefined, limit: string | undefined): string {
  if (result !== undefined) return resultText(result);
  const said = message ? textOf(message) : "";
  return said === "" && limit !== undefined ? `(Stopped: the turn reached ${limit}.)` : said;
}

/** The result of a task as a text: JSON, unless it is one. */
export function resultText(result: Json): string {
  return typeof result === "string" ? result : JSON.stringify(result);
}

function endedBecause({ signal }: TurnRun, reason: RunEnd): string {
  return reason === "interrupted" && signal.aborted ? messageOf(signal.reason) : "the turn ended";
}

function lastMessageOf(path: readonly Message[], run: TurnRun): AssistantMessage | undefined {
  for (let i = path.length - 1; i >= 0; i--) {
    const message = path[i] as Message;
    if (message.role === "assistant")
      return message.run === run.id ? assistantMessage(run.session, message.id) : undefined;
    if (isPersons(message)) return undefined;
  }
  return undefined;
}

/** Throws `LimitError` for limits that no turn can hold. */
export function checkLimits(limits: Limits): void {
  for (const name of ["steps", "repeats", "tokens", "cost", "time"] as const) {
    const value = limits[name];
    if (value === undefined) continue;
    const isCount = name === "steps" || name === "repeats";
    if (!Number.isFinite(value) || value <= 0 || (isCount && !Number.isInteger(value))) {
      throw new LimitError(
        "invalid-limit",
        `limits.${name} is ${value}; it must be a positive ${isCount ? "whole number" : "number"}.`,
      );
    }
  }
  const { depth, policy = "wrap-up" } = limits;
  if (!["wrap-up", "ask", "fail"].includes(policy)) {
    throw new LimitError("invalid-limit", `limits.policy is "${policy}"; it must be "wrap-up", "ask" or "fail".`);
  }
  if (depth !== undefined && !(Number.isInteger(depth) && depth >= 0)) {
    throw new LimitError("invalid-limit", `limits.depth is ${depth}; it must be a whole number, 0 or more.`);
  }
}
