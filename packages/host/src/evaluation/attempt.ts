import { type Agent, type ConversationState, pathTo, type Session, SessionError, StoreError } from "@banyan/core";
import { toolIn } from "@banyan/core/conversation";
import { cutTo, errorMessage } from "@banyan/core/shown";
import type { Sandbox } from "@banyan/tools/sandbox";
import type { CheckResult, EvaluationCost } from "../checks/case-check.ts";
import { fillFolder } from "../checks/case-files.ts";
import { holdUntouched, runCheck } from "../checks/check.ts";
import { askJudge, type Judge } from "../checks/judge.ts";
import { addCosts, nothingSpent, turnsOn } from "../checks/turns.ts";
import type { Redact } from "../redaction/redactor.ts";
import type { Allowance } from "./allowance.ts";
import type { Case } from "./cases.ts";
import { type AttemptIds, type AttemptResult, attemptResultText } from "./record.ts";

/** The folder and signal of one attempt. See {@link EvaluateOptions}. */
export interface AttemptContext {
  /** A new folder with the files of the case. */
  readonly directory: string;
  readonly case: Case;
  /** Aborts when the whole evaluation is stopped. */
  readonly signal: AbortSignal;
}

/** An agent for one attempt, with its sandbox. See {@link EvaluateOptions}. */
export interface Competitor {
  /** An agent that works in the attempt's folder and cannot ask a user. */
  readonly agent: Agent<unknown>;
  /** The sandbox for commands of agent and checks. Absent: commands have the program's rights. */
  readonly sandbox?: Sandbox | undefined;
  readonly redact?: Redact;
  /** Called after the attempt's checks. */
  close?(): Promise<void>;
}

/**
 * A configuration to evaluate, such as a model or a prompt: one column of the result table.
 * See {@link EvaluateOptions}.
 */
export interface Column {
  /** Unique among the columns. */
  readonly name: string;
  /** A key of the configuration. If the key changes, all attempts are repeated. */
  readonly key?: string;
  open(context: AttemptContext): Competitor | Promise<Competitor>;
}

/** Options of `makeAttempt`. */
export interface AttemptOptions {
  readonly session: Session;
  readonly ids: AttemptIds;
  readonly title: string;
  readonly column: Column;
  readonly case: Case;
  readonly directory: string;
  readonly judge: Judge | undefined;
  readonly allowance: Allowance | undefined;
  /** Returns whether each check holds in an untouched folder. Calls `look` only once for all attempts of a case. */
  readonly untouched: (look: () => Promise<readonly boolean[]>) => Promise<readonly boolean[]>;
  /** Stops everything. */
  readonly signal: AbortSignal;
  /** Aborts turns, but not checks that need no model. */
  readonly turns: AbortSignal;
}

/** An attempt without anything to check. The next evaluation repeats it. */
class AttemptError extends Error {
  override readonly name = "AttemptError";
}

const RESULT_FITS = "the result matches the schema of the agent";

/** Runs and checks an attempt, and writes the result. Rejects without a result, or with the reason of a signal. */
export async function makeAttempt(making: AttemptOptions): Promise<AttemptResult> {
  const { session, ids, title, column, directory, signal, turns } = making;
  await fillDirectory(directory, making.case);
  const competitor = await openCompetitor(column, { directory, case: making.case, signal });
  try {
    const { redact = (text) => text, sandbox } = competitor;
    const holding = await making.untouched(async () => {
      const found = await holdUntouched(making.case.expect, {
        case: making.case,
        directory,
        sandbox,
        redact: competitor.redact,
        signal,
      });
      await fillDirectory(directory, making.case);
      return found;
    });
    const [first = "", ...then] = making.case.say.map((text) => redact(text));
    await session.add(first, { at: null, id: ids.root });
    await session.notes.label(ids.root, title);
    const agent = boundedAgent(competitor.agent, making);
    const taken = await turnsOn({ session, agent, root: ids.root, then, signal: turns });
    const { isWhole, last, leaf, steps, seconds, spent } = taken;
    // A result that does not match the agent's schema is a fault of the model, and not of the evaluation.
    const misfit = last?.error?.code === "output" ? [{ holds: false, what: RESULT_FITS, why: last.error.message }] : [];
    if (!isWhole && misfit.length === 0) {
      turns.throwIfAborted();
      throw new AttemptError(last?.error?.message ?? "The turn was interrupted.");
    }
    const { checks: made, judging } = await checksOf(making, competitor, last?.text ?? "");
    const checks = [
      ...made.map((check, index) => (holding[index] ? { ...check, holdsUntouched: true as const } : check)),
      ...misfit,
    ];
    const denied = deniedCalls(session.state, ids.root);
    const passed = checks.every(({ holds }) => holds);
    const result = {
      passed,
      checks,
      ...(denied.length > 0 && { denied }),
      seconds: Math.round(seconds * 100) / 100,
      steps,
      spent,
      judging,
      directory,
    };
    // One durable message: an attempt has its whole result or none.
    await session.add(attemptResultText(result), { at: leaf, id: ids.result, author: "system" });
    await session.notes.label(ids.result, passed ? "passed" : "failed");
    return result;
  } finally {
    await endProcesses(session, ids.root);
    await competitor.close?.();
  }
}

/** Ends background processes of the agent and its sub-agents. */
async function endProcesses(session: Session, root: string): Promise<void> {
  const { state } = session;
  for (const { id, message, outcome } of [...state.processes.values()])
    if (outcome === undefined && branchRoot(state, message) === root)
      await session.processes.stop(id, "the attempt has ended").catch(() => {});
}

/** For a sub-agent's message, the first message of the branch that launched the sub-agent. */
function branchRoot(state: ConversationState, message: string): string | undefined {
  const [first] = pathTo(state, message);
  const launching = first?.call === undefined ? undefined : state.calls.get(first.call);
  return launching === undefined ? first?.id : branchRoot(state, launching);
}

function deniedCalls(state: ConversationState, root: string): string[] {
  const denied = [...state.messages.values()].flatMap((message) => {
    const calls = message.role === "assistant" ? message.calls.filter(({ status }) => status === "denied") : [];
    return calls.length > 0 && branchRoot(state, message.id) === root ? calls : [];
  });
  const sentences = denied.map((call) => {
    const { title, command, paths = [] } = call.about ?? {};
    const thing = title ?? command ?? paths[0]?.path;
    return cutTo(
      `${toolIn(state, { call: call.id })}${thing === undefined ? "" : ` ${thing}`}: ${call.output ?? ""}`,
      400,
    );
  });
  return [...new Set(sentences)];
}

async function openCompetitor(column: Column, context: AttemptContext): Promise<Competitor> {
  try {
    return await column.open(context);
  } catch (error) {
    context.signal.throwIfAborted();
    throw new AttemptError(errorMessage(error), { cause: error });
  }
}

function boundedAgent(agent: Agent<unknown>, { case: { mode, limits }, allowance }: AttemptOptions): Agent<unknown> {
  const bounded = agent.with({ mode, unattended: true, limits: { ...agent.options.limits, ...limits } });
  return allowance?.agent(bounded) ?? bounded;
}

async function checksOf(
  making: AttemptOptions,
  { sandbox, redact }: Competitor,
  answer: string,
): Promise<{ readonly checks: readonly CheckResult[]; readonly judging: EvaluationCost }> {
  const { session, ids, title, judge, allowance, directory, signal, turns } = making;
  const checks: CheckResult[] = [];
  let judging = nothingSpent;
  for (const [index, check] of making.case.expect.entries()) {
    if (check.judge === undefined) {
      checks.push(await runCheck(check, { case: making.case, directory, answer, sandbox, redact, signal }));
      continue;
    }
    if (judge === undefined) throw new AttemptError("The evaluation has no judge.");
    const id = ids.judge(index);
    const said = making.case.say;
    const about = { session, judge, allowance, id, title: `judge of ${title}`, said, answer, directory, redact };
    const { checked: found, spent } = await askJudge(check, { ...about, signal: turns });
    checks.push(found);
    judging = addCosts(judging, spent);
  }
  return { checks, judging };
}

/** Rejects with `AttemptError`. */
async function fillDirectory(directory: string, one: Case): Promise<void> {
  await fillFolder(directory, one).catch((error: unknown) => {
    throw new AttemptError(`The folder ${directory} could not be made: ${errorMessage(error)}.`, { cause: error });
  });
}

/** Returns whether the conversation can no longer be written. */
export function isLogLost(error: unknown): boolean {
  return error instanceof StoreError || (error instanceof SessionError && ["closed", "broken"].includes(error.code));
}
