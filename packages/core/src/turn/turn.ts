import { completeOpenCalls } from "../calls/open-calls.ts";
import { giveUpSummary, SHORTEN } from "../context/background-summary.ts";
import { citedMemory, recallMemory, rememberTurn } from "../context/recall.ts";
import { CUT_OFF } from "../conversation/broken-turn.ts";
import { errorMessage } from "../conversation/error-message.ts";
import type { EventBody, MessageAdded, RunEnd } from "../conversation/event.ts";
import { createId } from "../conversation/id.ts";
import {
  type AssistantMessage,
  isSettled,
  isUserMessage,
  type Message,
  type RecalledMemory,
  textOf,
} from "../conversation/message.ts";
import type { Json, UserPart } from "../conversation/part.ts";
import { endedReport } from "../conversation/shown/enclosed-text.ts";
import type { ConversationState, OpenQuestion, StayingProcess, WaitingInput } from "../conversation/state.ts";
import { askingRuns, openLimit } from "../conversation/tree/asking-run.ts";
import { deliverInputs, stillWaiting } from "../conversation/tree/inbox.ts";
import { lastAssistantMessage, processesOf } from "../conversation/tree/path.ts";
import type { Cost, Usage } from "../conversation/usage.ts";
import { goalOfRun } from "../goal/asked-goal.ts";
import type { TaskAgent } from "../ports/tool.ts";
import { assistantMessage, type RunBranch } from "../run/branch.ts";
import { guardedParts, guardInputs, type InputGuard } from "../run/guard-messages.ts";
import { type Budget, checkPrice, LimitError, type Limits } from "../run/limits.ts";
import type { LoopEnd, TurnProblem } from "../run/mode.ts";
import { taskResultIn } from "../run/mode.ts";
import { newRun, type TurnWatch } from "../run/new-run.ts";
import { notify, type TurnAgent, type TurnRun } from "../run/run.ts";
import { isReaderGone, noInput, SESSION_CLOSED, SessionError } from "../session/error.ts";
import type { RunHandle } from "../session/runs.ts";
import type { Session } from "../session/session.ts";
import { LastModel } from "./last-model.ts";
import { stepLoop } from "./step-loop.ts";

export type TurnStart =
  | {
      readonly type: "message";
      readonly parentId: string | null;
      readonly parts: readonly UserPart[];
      readonly id?: string;
    }
  | { readonly type: "inputs"; readonly parentId: string | null; readonly inputs: readonly WaitingInput[] }
  /** `again`: answers the last user message again, as a sibling of the existing answer. */
  | { readonly type: "here"; readonly leaf: string | null; readonly again?: true };

export function turnStartLeaf(start: TurnStart): string | null {
  return start.type === "here" ? start.leaf : start.parentId;
}

/** The outcome of a turn. See {@link Chat}. */
export interface Turn<out Result = Json | undefined> {
  /** Id of the turn's run. */
  readonly id: string;
  /**
   * `answered`, `finished` (a task), `limit`, `failed` or `interrupted`. `waiting`: the reader left or the session was
   * closed while a user was asked; `resume()` continues the turn. In the log, `waiting` also means that another agent
   * continues the turn.
   */
  readonly reason: RunEnd;
  /** The last response. Absent: the model did not respond. */
  readonly message: AssistantMessage | undefined;
  /** Text of the last response. If a limit ended the turn without a response, a sentence about the limit. */
  readonly text: string;
  /** Result of a finished task, or the value of the agent's schema `output` with its defaults and transforms. */
  readonly result: Result;
  /** Tokens of all model calls, also of abandoned ones, and of earlier turns with which this turn shares its limits. */
  readonly usage: Usage;
  /** US dollars for the same model calls. `undefined`: the price of a model is unknown. */
  readonly cost: Cost;
  /** The number of steps that have begun. The final answer at a limit does not count. */
  readonly steps: number;
  /** Description of the limit, if `reason` is `limit`. */
  readonly limit: string | undefined;
  /** Open questions in the order they were asked, if `reason` is `waiting`; empty in all other cases. */
  readonly questions: readonly OpenQuestion[];
  /** Entries of memory that the last response cites, if the agent's memory has `cite`. */
  readonly citations: readonly RecalledMemory[];
  /** Set if the turn failed, or if a limit with the policy `fail` ended it. */
  readonly error: TurnProblem | undefined;
}

export interface EndedTurn {
  readonly turn: Turn;
  readonly budget: Budget;
  /** The agent that continues the turn, if the model handed the conversation over. */
  readonly handsTo: TaskAgent | undefined;
}

/**
 * Runs one turn until the model asks for no call, a limit is reached, the model fails, or the run is interrupted. The
 * log then has the end of the run, and the conversation stays usable. Throws `LimitError` before any effect for limits
 * that cannot be enforced. Throws `SessionError` when the session cannot write, and (`no-input`) when all inputs were
 * withdrawn or delivered elsewhere before the turn began.
 */
export async function runTurn(
  handle: RunHandle,
  session: Session,
  agent: TurnAgent,
  branch: RunBranch,
  start: TurnStart,
  watch: TurnWatch,
): Promise<EndedTurn> {
  checkLimits(agent.limits);
  checkPrice(agent.limits, agent.model);
  const { model } = agent;
  const chosen = new LastModel(watch.chosenModel);
  const fresh = newRun(handle, session, agent, branch, watch);
  // The log names the model that the run begins with.
  const { run } = "run" in model ? { run: fresh } : await chosen.now({ run: fresh, model });
  const guard = agent.guards?.input;
  await addTurnStart(run, guard ? await guardedStart(run, guard, start) : start);
  handle.started();
  const ending = await takeSteps(run, start, chosen).catch((cause: unknown): LoopEnd => {
    if (cause instanceof SessionError) throw cause;
    return { reason: "failed", error: { code: "defect", message: errorMessage(cause), cause } };
  });
  return { turn: await endTurn(run, ending), budget: run.budget, handsTo: ending.handsTo };
}

async function takeSteps(run: TurnRun, start: TurnStart, chosen: LastModel): Promise<LoopEnd> {
  const { memory, mode } = run.agent;
  if (memory && start.type !== "here") await recallMemory(run, memory);
  const open = lastAssistantMessage(run.branch.path);
  const wasOpen = open !== undefined && !isSettled(open);
  await completeOpenCalls(run);
  const summary = summaryToPlan(run);
  // After a rejection the feed already has the reason why nothing is shortened.
  if (summary) {
    const { planSummary } = await import("../context/summary-message.ts");
    await planSummary(run, summary.response, summary.text).catch(() => {});
  }
  if (run.continues !== undefined) await closeLimit(run);
  const { toolbox, goal } = run.agent;
  // A message after the result says that the goal is not reached.
  const mayBeDone = !goal || run.branch.path.at(-1)?.role === "assistant";
  if (start.type === "here" && mode.name === "task" && !run.progress.finished && mayBeDone) finishAsBefore(run);
  if (!toolbox.handsOver) return takeLoop(run, chosen, start);
  // A call left open by a crash may have handed over.
  const handsTo = wasOpen ? toolbox.handOffIn(open) : undefined;
  if (handsTo) return { reason: "answered", handsTo };
  const ending = await takeLoop(run, chosen, start);
  return ending.reason === "answered" ? { ...ending, handsTo: handOffIn(run) } : ending;
}

function handOffIn({ agent: { toolbox }, branch, from }: TurnRun): TaskAgent | undefined {
  for (const message of branch.path.slice(from).toReversed()) {
    const to = message.role === "assistant" ? toolbox.handOffIn(message) : undefined;
    if (to) return to;
  }
  return undefined;
}

async function takeLoop(run: TurnRun, chosen: LastModel, { type }: TurnStart): Promise<LoopEnd> {
  const { model, goal } = run.agent;
  const loop = async (here: TurnRun, from: TurnStart["type"]) =>
    "run" in model
      ? (await import("./reported-loop.ts")).reportedLoop(here, model)
      : stepLoop(chosen.continued({ run: here, model }), chosen, from);
  if (!goal) return loop(run, type);
  return (await import("../goal/pursue.ts")).pursueGoal(run, goal, type, loop);
}

/** Lets the guard check the messages of users that begin the turn. Throws `DirectiveError` (`refused`). */
async function guardedStart(run: TurnRun, guard: InputGuard, start: TurnStart): Promise<TurnStart> {
  if (start.type === "message") return { ...start, parts: await guardedParts(run, guard, start.parts) };
  if (start.type === "inputs") {
    await guardInputs(run, guard, () => stillWaiting(run.session.state, start.inputs));
    run.signal.throwIfAborted();
  }
  return start;
}

async function addTurnStart(run: TurnRun, start: TurnStart): Promise<void> {
  const { session, agent, branch } = run;
  const { instructions, toolbox } = agent;
  const events: EventBody[] = [];
  for (const { digest, text } of [instructions, toolbox]) {
    if (!session.state.contents.has(digest)) events.push({ type: "content.stored", digest, text });
  }
  let leaf = branch.leaf;
  // A turn that continues after a restart also gets the ends of processes: a summary may list them as running (F87).
  const again = start.type === "here" && start.again === true;
  const ended = again ? [] : endedOn(session.state, branch.path);
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
    events.push(...deliverInputs(inputs, told ?? start.parentId));
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
    ...(agent.goal && { goal: goalOfRun(session.state, agent.goal, { ...run, leaf: branch.leaf, again }) }),
  });
  if (told !== undefined && start.type === "here") events.push({ ...toldOfEnd(told, leaf, ended), run: run.id });
  // One commit: after a crash between two commits, the tree would have the user's message, but no interrupted run that
  // explains the missing answer.
  await session.commit(events, { durable: true, origin: run.origin });
  for (const event of events) if (event.type === "message.added") branch.extend(event.message);
}

/** Ended processes of this branch whose end the model does not know yet. */
function endedOn(state: ConversationState, path: readonly Message[]): StayingProcess[] {
  return processesOf(state, path).filter(({ outcome }) => outcome !== undefined);
}

function toldOfEnd(message: string, parentId: string | null, ended: readonly StayingProcess[]): MessageAdded {
  const parts = [{ type: "text", text: endedReport(ended) }] as const;
  return { type: "message.added", message, parentId, role: "user", author: "system", parts };
}

/** Closes a limit question of another process if the turn is no longer at the limit. */
async function closeLimit({ id: run, session, budget, origin }: TurnRun): Promise<void> {
  const open = openLimit(session.state, run);
  if (!open || budget.exhausted() !== undefined) return;
  const question = open.id;
  await session.commit([{ type: "run.continued", run, question, allowed: true }], { durable: true, origin });
}

/** Finishes a task whose finishing call was logged by a process that ended before the run did. */
function finishAsBefore({ branch, progress }: TurnRun): void {
  // Messages about ended processes may follow the response.
  const last = branch.path.findLast((message) => message.role !== "user" || message.author !== "system");
  const result = last?.role === "assistant" ? taskResultIn(last) : undefined;
  if (result !== undefined) progress.finished = { result, summary: undefined };
}

/** Returns the summary that a call of the last response wrote, if its process ended before the log had the summary. */
function summaryToPlan({ branch }: TurnRun): { readonly response: string; readonly text: string } | undefined {
  const response = branch.path.findLast(({ role }) => role !== "user");
  if (response?.role !== "assistant" || response.calls.length === 0) return undefined;
  const planned = response.calls.findLast(({ tool, status }) => tool === SHORTEN && status === "completed");
  const { summary } = (planned?.executedInput ?? planned?.input ?? {}) as { readonly summary?: Json };
  return typeof summary === "string" ? { response: response.id, text: summary } : undefined;
}

async function endTurn(run: TurnRun, ending: LoopEnd): Promise<Turn> {
  const { limit } = ending;
  const { session, agent, branch, budget, call, followers, begun, progress } = run;
  await begun.end();
  // A chat continues, and can use the summary that is still being made.
  if (ending.reason !== "answered" || agent.unattended || call !== undefined) await giveUpSummary(run);
  if (followers.size > 0) await followers.drop(endedBecause(run, ending.reason));
  budget.end();
  const message = lastMessageOf(branch.path, run);
  const { reason, error, result }: EndWithResult =
    // Another run continues the turn: after the user's answer, or after a hand-off.
    (ending.reason === "interrupted" && waits(run)) || ending.handsTo
      ? { ...ending, reason: "waiting" }
      : await endWithResult(run, ending, message);
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
  if (message && (reason === "answered" || reason === "finished" || reason === "limit"))
    await notify(run, "onAnswer", message);
  const citations = citedMemory(run, message);
  if (run.agent.memory && call === undefined) rememberTurn(run, run.agent.memory);
  // The messages of a sub-agent are dropped together with those of its parent.
  if (run.call === undefined) branch.trim();
  return {
    id: run.id,
    reason,
    message,
    text: turnResultText(progress.finished?.result, message, limit),
    result,
    usage,
    cost,
    steps,
    limit,
    citations,
    questions: reason === "waiting" ? questionsOf(run) : [],
    error,
  };
}

type EndWithResult = LoopEnd & { readonly result?: Json };

/** Applies the schema of the result to the end of a turn. Without a matching result, the turn has an error. */
async function endWithResult(
  { agent, progress }: TurnRun,
  ending: LoopEnd,
  response: AssistantMessage | undefined,
): Promise<EndWithResult> {
  const { output } = agent.mode;
  const finished = progress.finished?.result;
  if (!output) return finished === undefined ? ending : { ...ending, result: finished };
  if (ending.error) return ending;
  const value = finished ?? (response && output.valueIn(response));
  const checked = value === undefined ? undefined : await Promise.resolve(value).then(output.check).catch(uncheckable);
  // The result may be any value of the schema, such as a date: the type of the agent knows it.
  if (checked?.ok && ending.reason !== "interrupted") return { ...ending, result: checked.input };
  const { reason, limit } = ending;
  const code = reason === "limit" || reason === "interrupted" ? reason : "output";
  const why = checked?.ok === false ? `: ${checked.problem}` : "";
  const message = `The turn ended (${limit ?? reason}) without a result that matches the requested schema${why}.`;
  return { ...ending, reason: code === "output" ? "failed" : reason, error: { code, message, value } };
}

function uncheckable(cause: unknown) {
  return { ok: false, problem: errorMessage(cause) } as const;
}

/** True if a user is being asked in the turn, and only its process goes away. */
function waits(run: TurnRun): boolean {
  return run.survives && isReaderGone(run.signal) && questionsOf(run).length > 0;
}

function questionsOf({ id, session: { state } }: TurnRun): OpenQuestion[] {
  return [...state.questions.values()].filter((question) => askingRuns(state, question).includes(id));
}

function turnResultText(
  result: Json | undefined,
  message: AssistantMessage | undefined,
  limit: string | undefined,
): string {
  if (result !== undefined) return taskResultText(result);
  const said = message ? textOf(message) : "";
  return said === "" && limit !== undefined ? `(Stopped: the turn reached ${limit}.)` : said;
}

export function taskResultText(result: Json): string {
  return typeof result === "string" ? result : JSON.stringify(result);
}

function endedBecause({ signal }: TurnRun, reason: RunEnd): string {
  return reason === "interrupted" && signal.aborted ? errorMessage(signal.reason) : "the turn ended";
}

function lastMessageOf(path: readonly Message[], run: TurnRun): AssistantMessage | undefined {
  for (let i = path.length - 1; i >= 0; i--) {
    const message = path[i] as Message;
    if (message.role === "assistant")
      return message.run === run.id ? assistantMessage(run.session, message.id) : undefined;
    if (isUserMessage(message)) return undefined;
  }
  return undefined;
}

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
