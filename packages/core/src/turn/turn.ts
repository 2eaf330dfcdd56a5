import type { EventBody, RunEnd } from "../conversation/event.ts";
import { createId } from "../conversation/id.ts";
import { type AssistantMessage, type Message, textOf, type UserPart } from "../conversation/message.ts";
import type { Cost, Usage } from "../conversation/usage.ts";
import { SessionError } from "../session/error.ts";
import type { FeedReader } from "../session/feed.ts";
import type { RunHandle, Session } from "../session/session.ts";
import type { Branch } from "./branch.ts";
import { messageOf } from "./execute.ts";
import { Budget, checkLimits, LimitError } from "./limits.ts";
import { recallInto, rememberTurn } from "./recall.ts";
import { answerOf, type TurnAgent, type TurnRun, tell } from "./run.ts";
import { type StepEnd, takeStep } from "./step.ts";

/** What a turn begins with: a new user message below `parentId`, or nothing new. */
export type TurnStart =
  | { readonly type: "message"; readonly parentId: string | null; readonly parts: readonly UserPart[] }
  | { readonly type: "here"; readonly leaf: string | null };

/** What became of a turn. */
export interface Turn {
  /** The id of its run. */
  readonly id: string;
  readonly reason: RunEnd;
  /** Its last answer; absent when the model said nothing at all. */
  readonly message: AssistantMessage | undefined;
  /** The text of that answer; when a limit ended the turn without one, a sentence that says so. */
  readonly text: string;
  /** Of all model calls of the turn, abandoned ones included. */
  readonly usage: Usage;
  readonly cost: Cost;
  /** Model calls that were answered. */
  readonly steps: number;
  /** Why it failed, or which limit ended it. */
  readonly error: TurnProblem | undefined;
}

export interface TurnProblem {
  /** A `ModelErrorCode`, `limit`, or `defect`. */
  readonly code: string;
  readonly message: string;
  readonly cause?: unknown;
}

/** The time of a turn is up. */
class OutOfTime extends Error {
  override readonly name = "OutOfTime";
}

type Ending = { readonly reason: RunEnd; readonly error?: TurnProblem };

/**
 * Runs one turn: steps until the model asks for no call, a limit is reached, the model fails or somebody interrupts.
 * However it ends, the conversation is usable and the run has ended in the log. Throws `LimitError` before anything
 * happened when the limits cannot be held, and `SessionError` when the session can no longer write.
 */
export async function runTurn(
  handle: RunHandle,
  session: Session,
  agent: TurnAgent,
  branch: Branch,
  start: TurnStart,
  watch: { readonly origin: object; readonly reader?: FeedReader | undefined },
): Promise<Turn> {
  checkLimits(agent.limits);
  if (agent.limits.cost !== undefined && agent.model.price === undefined) {
    throw new LimitError("unknown-price", `A cost limit cannot be held: the price of ${agent.model.id} is unknown.`);
  }
  const run: TurnRun = {
    id: handle.id,
    session,
    agent,
    branch,
    budget: new Budget(agent.limits),
    origin: watch.origin,
    reader: watch.reader,
    signal: handle.signal,
    step: 0,
  };
  await begin(run, start);
  const ending = await takeSteps(run).catch((cause: unknown): Ending => {
    if (cause instanceof SessionError) throw cause;
    return { reason: "failed", error: { code: "defect", message: messageOf(cause), cause } };
  });
  return end(run, ending);
}

async function begin(run: TurnRun, start: TurnStart): Promise<void> {
  const { session, agent, branch } = run;
  const { instructions, toolbox } = agent;
  const events: EventBody[] = [];
  for (const { digest, text } of [instructions, toolbox]) {
    if (!session.state.contents.has(digest)) events.push({ type: "content.stored", digest, text });
  }
  let leaf = branch.leaf;
  if (start.type === "message") {
    leaf = createId();
    events.push({
      type: "message.added",
      message: leaf,
      parentId: start.parentId,
      role: "user",
      author: "user",
      parts: start.parts,
    });
  }
  const { settings, limits, model, name } = agent;
  events.push({
    type: "run.started",
    run: run.id,
    agent: name,
    model: model.id,
    settings: settings as never,
    limits: limits as never,
    mode: "chat",
    instructions: instructions.digest,
    tools: toolbox.digest,
    leaf,
  });
  await session.commit(events, { durable: true, origin: run.origin });
  if (start.type === "message" && leaf !== null) branch.extend(leaf);
  if (agent.memory && start.type === "message") await recallInto(run, agent.memory);
}

async function takeSteps(run: TurnRun): Promise<Ending> {
  const { budget, signal } = run;
  for (;;) {
    if (signal.aborted) return { reason: "interrupted" };
    const limit = budget.exhausted();
    if (limit !== undefined) {
      const ending = await atLimit(run, limit);
      if (ending) return ending;
      continue;
    }
    run.step = ++budget.steps;
    const step = await inTime(run, budget.softTime(), () => takeStep(run, "auto"));
    switch (step.type) {
      case "calls":
        break;
      case "answer":
        return { reason: "answered" };
      case "failed":
        return { reason: "failed", error: { code: step.error.code, message: step.error.message, cause: step.error } };
      case "aborted":
        if (signal.aborted) return { reason: "interrupted" };
    }
  }
}

/** Runs a step and aborts it when the turn has lasted `until` milliseconds. */
async function inTime(run: TurnRun, until: number, step: () => Promise<StepEnd>): Promise<StepEnd> {
  if (until === Number.POSITIVE_INFINITY) return step();
  const outer = run.signal;
  const clock = new AbortController();
  const timer = setTimeout(
    () => clock.abort(new OutOfTime(`the turn reached ${run.budget.timeLimit()}`)),
    Math.max(0, until - run.budget.elapsed()),
  );
  run.signal = AbortSignal.any([outer, clock.signal]);
  try {
    return await step();
  } finally {
    clearTimeout(timer);
    run.signal = outer;
  }
}

/** What the policy says at a limit. Nothing: the turn goes on. */
async function atLimit(run: TurnRun, limit: string): Promise<Ending | undefined> {
  const error = { code: "limit", message: `The turn reached ${limit}.` };
  const { policy = "wrap-up" } = run.agent.limits;
  if (policy === "fail") return { reason: "limit", error };
  if (policy === "ask") {
    if (await askForMore(run, error.message)) return undefined;
    if (run.signal.aborted) return { reason: "interrupted" };
  }
  return (await lastWord(run, limit)) ?? { reason: "limit" };
}

async function askForMore(run: TurnRun, reason: string): Promise<boolean> {
  const { session, origin } = run;
  const asked = session.ask();
  const question = asked.id;
  await session.commit([{ type: "run.paused", run: run.id, question, reason }], { durable: true, origin });
  let allowed = false;
  try {
    allowed = (await asked.answer(run.signal)).decision === "allow";
  } catch {
    // Only an interruption ends the wait; the run is ended by it.
  }
  await session.commit([{ type: "run.continued", run: run.id, question, allowed }], { durable: true, origin });
  if (allowed) run.budget.grant();
  return allowed;
}

/** One last model call without tools, so that the turn ends with an answer. */
async function lastWord(run: TurnRun, limit: string): Promise<Ending | undefined> {
  const { session, branch, budget, origin } = run;
  const message = createId();
  const text = `This turn has reached ${limit}. No tools can be used any more. Answer now with what you have, and say what is left to do.`;
  await session.commit(
    [
      {
        type: "message.added",
        message,
        parentId: branch.leaf,
        role: "user",
        author: "system",
        parts: [{ type: "text", text }],
      },
    ],
    { origin },
  );
  branch.extend(message);
  const step = await inTime(run, budget.hardTime(), () => takeStep(run, "none"));
  if (step.type === "failed")
    return { reason: "failed", error: { code: step.error.code, message: step.error.message, cause: step.error } };
  return run.signal.aborted ? { reason: "interrupted" } : undefined;
}

async function end(run: TurnRun, { reason, error }: Ending): Promise<Turn> {
  const { session, branch, budget } = run;
  const ended = { type: "run.ended", run: run.id, reason, leaf: branch.leaf } as const;
  const event = error ? { ...ended, error: { code: error.code, message: error.message } } : ended;
  await session.commit([event], { durable: true, origin: run.origin });
  const message = lastAnswerOf(branch.path, run);
  if (message && (reason === "answered" || reason === "limit")) tell(run, "onAnswer", message);
  if (run.agent.memory) rememberTurn(run, run.agent.memory);
  branch.trim();
  const said = message ? textOf(message) : "";
  return {
    id: run.id,
    reason,
    message,
    text: said === "" && reason === "limit" ? `(Stopped: the turn reached a limit after ${budget.steps} steps.)` : said,
    usage: budget.usage,
    cost: budget.cost,
    steps: budget.steps,
    error,
  };
}

function lastAnswerOf(path: readonly Message[], run: TurnRun): AssistantMessage | undefined {
  for (let i = path.length - 1; i >= 0; i--) {
    const message = path[i] as Message;
    if (message.role === "assistant") return message.run === run.id ? answerOf(run.session, message.id) : undefined;
    if (message.role === "user" && message.author === "user") return undefined;
  }
  return undefined;
}
