import { cp, mkdir, realpath, rm, writeFile } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { type Agent, pathTo, type Session, SessionError, StoreError } from "@banyan/core";
import type { Sandbox } from "@banyan/tools/sandbox";
import type { Redact } from "../redaction/redactor.ts";
import type { Allowance } from "./allowance.ts";
import type { Case } from "./cases.ts";
import { checked } from "./check.ts";
import { type Judge, judged } from "./judge.ts";
import { type AttemptIds, type AttemptResult, type Checked, resultText, type Spending } from "./record.ts";
import { nothingSpent, sumOf, turnsOn } from "./turns.ts";

/** Where an attempt takes place. */
export interface AttemptPlace {
  /** A fresh folder with the files of the case. */
  readonly directory: string;
  readonly case: Case;
  /** Aborts when everything is to stop. */
  readonly signal: AbortSignal;
}

/** Who makes an attempt. */
export interface Competitor {
  /** It works in the folder of the attempt, and nobody can be asked. */
  readonly agent: Agent;
  /** What its commands run in, and those of checks; without one they may do all that the program may. */
  readonly sandbox?: Sandbox | undefined;
  /** Takes secrets out of what is written down. */
  readonly redact?: Redact;
  /** The attempt has ended, and has been checked. */
  close?(): Promise<void>;
}

/** One of those that are compared: a model, a prompt, or an agent of whatever kind. */
export interface Column {
  /** As it is told apart from the others. */
  readonly name: string;
  /** What its attempts depend on beside its name: where this is another text, they are made anew. */
  readonly key?: string;
  /** Makes the agent of one attempt. */
  open(place: AttemptPlace): Competitor | Promise<Competitor>;
}

/** An attempt that is to be made. */
export interface Making {
  readonly session: Session;
  readonly ids: AttemptIds;
  /** How it is called in the tree. */
  readonly title: string;
  readonly column: Column;
  readonly case: Case;
  readonly directory: string;
  readonly judge: Judge | undefined;
  readonly allowance: Allowance | undefined;
  /** Ends everything. */
  readonly signal: AbortSignal;
  /** Ends turns: checks that ask no model go on. */
  readonly turns: AbortSignal;
}

/** An attempt came to nothing that can be checked: it is made anew when the evaluation goes on. */
class AttemptError extends Error {
  override readonly name = "AttemptError";
}

/**
 * Makes an attempt, checks it, and writes at the end of its branch what came of it. Rejects with `AttemptError` or `JudgeError`, in a
 * sentence, when there is nothing to check or to judge by, and with the reason of a signal; then no result is written.
 */
export async function makeAttempt(making: Making): Promise<AttemptResult> {
  const { session, ids, title, column, directory, signal, turns } = making;
  await prepared(directory, making.case);
  const competitor = await opened(column, { directory, case: making.case, signal });
  try {
    const { redact = same } = competitor;
    const [first = "", ...then] = making.case.say.map((text) => redact(text));
    await session.add(first, { at: null, id: ids.root });
    await session.label(ids.root, title);
    const agent = agentFor(competitor.agent, making);
    const taken = await turnsOn({ session, agent, root: ids.root, then, signal: turns });
    const { isWhole, last, leaf, steps, seconds, spent } = taken;
    if (!isWhole) {
      turns.throwIfAborted();
      throw new AttemptError(last?.error?.message ?? "The turn was interrupted.");
    }
    const { checks, judging } = await checksOf(making, competitor, last?.text ?? "");
    const passed = checks.every(({ holds }) => holds);
    const result = { passed, checks, seconds: Math.round(seconds * 100) / 100, steps, spent, judging, directory };
    // One message, whole and on the disk before anybody counts it: an attempt has its result, or it has none.
    await session.add(resultText(result), { at: leaf, id: ids.result, author: "system" });
    await session.label(ids.result, passed ? "passed" : "failed");
    return result;
  } finally {
    await endProcesses(session, ids.root);
    await competitor.close?.();
  }
}

/** Ends what the agent, or a sub-agent of it, began on its branch and left running. */
async function endProcesses(session: Session, root: string): Promise<void> {
  const { state } = session;
  const rootOf = (message: string): string | undefined => {
    const [first] = pathTo(state, message);
    const launching = first?.call === undefined ? undefined : state.calls.get(first.call);
    return launching === undefined ? first?.id : rootOf(launching);
  };
  // One that ends by itself just now is no more to be ended.
  for (const { id, message, outcome } of [...state.processes.values()])
    if (outcome === undefined && rootOf(message) === root)
      await session.stopProcess(id, "the attempt has ended").catch(() => {});
}

function same(text: string): string {
  return text;
}

async function opened(column: Column, place: AttemptPlace): Promise<Competitor> {
  try {
    return await column.open(place);
  } catch (error) {
    place.signal.throwIfAborted();
    throw new AttemptError(messageOf(error), { cause: error });
  }
}

function agentFor(agent: Agent, { case: { mode, limits }, allowance }: Making): Agent {
  const bounded = agent.with({ mode, unattended: true, limits: { ...agent.options.limits, ...limits } });
  return allowance?.agent(bounded) ?? bounded;
}

async function checksOf(
  making: Making,
  { sandbox, redact }: Competitor,
  answer: string,
): Promise<{ readonly checks: readonly Checked[]; readonly judging: Spending }> {
  const { session, ids, title, judge, allowance, directory, signal, turns } = making;
  const checks: Checked[] = [];
  let judging = nothingSpent;
  for (const [index, check] of making.case.expect.entries()) {
    if (check.judge === undefined) {
      checks.push(await checked(check, { directory, answer, sandbox, redact, signal }));
      continue;
    }
    if (judge === undefined) throw new AttemptError("Nobody judges: the evaluation was given no judge.");
    const id = ids.judge(index);
    const said = making.case.say;
    const about = { session, judge, allowance, id, title: `judge of ${title}`, said, answer, directory, redact };
    const { checked: found, spent } = await judged(check, { ...about, signal: turns });
    checks.push(found);
    judging = sumOf(judging, spent);
  }
  return { checks, judging };
}

/** Makes the folder of an attempt anew. Rejects with `AttemptError`. */
async function prepared(directory: string, { folder, files }: Case): Promise<void> {
  try {
    await rm(directory, { recursive: true, force: true });
    await mkdir(directory, { recursive: true, mode: 0o700 });
    if (folder !== undefined) await cp(folder, directory, { recursive: true, verbatimSymlinks: true });
    const root = await realpath(directory);
    for (const [path, content] of Object.entries(files)) {
      const file = join(root, path);
      await mkdir(dirname(file), { recursive: true });
      const around = await realpath(dirname(file));
      if (around !== root && !around.startsWith(root + sep))
        throw new Error(`${path} would be written through a link that leads out of the folder`);
      // What was copied may be a link, which leads elsewhere.
      await rm(file, { force: true });
      await writeFile(file, content, { flag: "wx" });
    }
  } catch (error) {
    throw new AttemptError(`The folder ${directory} could not be made: ${messageOf(error)}.`, { cause: error });
  }
}

/** Whether nothing can be written any more. */
export function isLost(error: unknown): boolean {
  return error instanceof StoreError || (error instanceof SessionError && ["closed", "broken"].includes(error.code));
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
