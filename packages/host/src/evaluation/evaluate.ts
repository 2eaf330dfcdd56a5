import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { formatDuration } from "@banyan/client/words";
import { type ConversationState, LimitError, type Session } from "@banyan/core";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { errorMessage } from "@banyan/core/shown";
import type { EvaluationCost } from "../checks/case-check.ts";
import { removeFolder } from "../checks/case-files.ts";
import type { Judge } from "../checks/judge.ts";
import { addCosts, nothingSpent } from "../checks/turns.ts";
import { Allowance } from "./allowance.ts";
import { type AttemptOptions, type Column, isLogLost, makeAttempt } from "./attempt.ts";
import type { Case, Cases } from "./cases.ts";
import {
  type Attempt,
  type AttemptIds,
  type AttemptResult,
  attemptIds,
  type Evaluation,
  resultIn,
  shortKey,
} from "./record.ts";
import { reportMessage } from "./report.ts";

const AT_ONCE = 4;

/**
 * Options of an evaluation.
 * @example
 * const column = {
 *   name: "plain",
 *   key: "2",
 *   open: ({ directory }: AttemptContext) => ({ agent: new Agent({ model, tools: workspaceTools({ root: directory }) })
 * }),
 * };
 * await evaluate({
 *   cases: readCases("cases.yaml"),
 *   columns: [column],
 *   session: await Session.open(store, "evaluation", { create: true }),
 *   directory: "attempts",
 *   judge: model,
 *   repetitions: 3,
 *   atOnce: 8,
 *   limits: { cost: 5, time: 30 * 60_000 },
 *   signal,
 *   onAttempt: ({ case: name, column, status }) => console.log(name, column, status),
 * });
 */
export interface EvaluateOptions {
  readonly cases: Pick<Cases, "name" | "cases">;
  /** The configurations to compare. */
  readonly columns: readonly Column[];
  /** The conversation of the evaluation. Each attempt is a branch. Unfinished attempts are continued. */
  readonly session: Session;
  /** The parent of the attempts' folders, which remain so that a user can continue an attempt. */
  readonly directory: string;
  /** The model that judges; required if a check has a `judge`. */
  readonly judge?: Judge | undefined;
  /** Attempts per case and column. Default 1. */
  readonly repetitions?: number | undefined;
  /** Attempts in parallel. Default 4. */
  readonly atOnce?: number | undefined;
  /** Limits of all attempts and judges together: US dollars, with earlier cost; milliseconds of this call. */
  readonly limits?: { readonly cost?: number | undefined; readonly time?: number | undefined } | undefined;
  /** Interrupts running attempts. Results are kept. */
  readonly signal?: AbortSignal | undefined;
  /** Called at the end of each attempt. Must not throw. */
  readonly onAttempt?: ((attempt: Attempt) => void) | undefined;
}

const OPTIONS: OptionNames<EvaluateOptions> = {
  cases: true,
  columns: true,
  session: true,
  directory: true,
  judge: true,
  repetitions: true,
  atOnce: true,
  limits: true,
  signal: true,
  onAttempt: true,
};

/**
 * The error of an evaluation that cannot start. Faults of its file are `SettingsError`s instead.
 * @example
 * await evaluate({ cases: readCases("cases.yaml"), columns: [], session, directory: "attempts" }).catch((error) => {
 *   if (error instanceof EvaluationError) console.error(error.message);
 * });
 */
export class EvaluationError extends Error {
  override readonly name = "EvaluationError";
}

interface PlannedAttempt {
  readonly case: Case;
  readonly column: Column;
  readonly repetition: number;
  readonly key: string;
}

/**
 * Runs each case in each column, on separate branches and in separate folders, and checks the results. Attempts that
 * already have a result in the conversation are kept; the others are repeated. A changed case or column has new
 * attempts. Rejects before any cost with `EvaluationError`, or with `LimitError` for an unknown price. Later rejects
 * with `StoreError` or `SessionError`.
 * @example
 * const columns = [{ name: "plain", key: "1", open: () => ({ agent }) }];
 * const evaluation = await evaluate({ cases: readCases("cases.yaml"), columns, session, directory: "attempts" });
 * console.log(evaluationSentence(evaluation));
 */
export async function evaluate(options: EvaluateOptions): Promise<Evaluation> {
  const { session, cases, limits = {}, signal = new AbortController().signal, onAttempt = () => {} } = options;
  refuseUnknown("evaluate", options, OPTIONS);
  checkEvaluateOptions(options);
  const wanted = wantedOf(options);
  const kept = new Map(wanted.map((one) => [one, madeBefore(session.state, one.key)] as const));
  const halt = new AbortController();
  let stopped: Evaluation["stopped"];
  const stop = (reason: "limit" | "interrupted", why: string) => {
    stopped ??= { reason, why };
    halt.abort(new Error(`The evaluation stopped: ${why}.`));
  };
  if (session.state.title === undefined) await session.notes.rename(`Evaluation of ${cases.name}`);
  using allowance =
    limits.cost === undefined ? undefined : new Allowance(session, limits.cost, (why) => stop("limit", why));
  const out = AbortSignal.any([signal, ...(limits.time === undefined ? [] : [AbortSignal.timeout(limits.time)])]);
  const onOut = () =>
    signal.aborted
      ? stop("interrupted", "it was interrupted")
      : stop("limit", `the limit of ${formatDuration(limits.time ?? 0)} is reached`);
  out.addEventListener("abort", onOut, { once: true });
  if (out.aborted) onOut();

  const ended = new Map<PlannedAttempt, Attempt>();
  const looks = new Map<Case, Promise<readonly boolean[]>>();
  const waiting = wanted.filter((one) => !kept.get(one)?.result);
  if (waiting.length > 0) allowance?.look();
  const work = async () => {
    for (let one = waiting.shift(); one && !halt.signal.aborted; one = waiting.shift()) {
      const attempt = await tryAttempt(one, kept.get(one)?.tries ?? 0, options, {
        allowance,
        signal: out,
        turns: halt.signal,
        untouched(look) {
          const holding = looks.get(one.case) ?? look();
          looks.set(one.case, holding);
          return holding;
        },
      });
      ended.set(one, attempt);
      onAttempt(attempt);
    }
  };
  try {
    const workers = Array.from({ length: Math.min(options.atOnce ?? AT_ONCE, waiting.length) }, work);
    const settled = await Promise.allSettled(workers);
    for (const one of settled) if (one.status === "rejected") throw one.reason;
  } finally {
    out.removeEventListener("abort", onOut);
  }
  const attempts = wanted.map((one) => ended.get(one) ?? keptAttempt(one, kept.get(one)));
  const evaluation = evaluationOf(options, attempts, stopped);
  if (ended.size > 0) await session.add(...reportMessage(evaluation));
  return evaluation;
}

/** Checks options that a file of cases cannot contain. */
function checkEvaluateOptions({ cases, columns, judge, limits, session, atOnce, repetitions }: EvaluateOptions): void {
  const wrong = (message: string) => new EvaluationError(message);
  if (columns.length === 0) throw wrong("There is nothing to evaluate: add at least one column.");
  const twice = columns.find(({ name }, index) => columns.findIndex((one) => one.name === name) !== index);
  if (twice) throw wrong(`Two columns have the name "${twice.name}": give each column its own name.`);
  for (const [name, value] of Object.entries({
    atOnce,
    repetitions,
    "limits.cost": limits?.cost,
    "limits.time": limits?.time,
  }))
    if (value !== undefined && !(value > 0 && (Number.isInteger(value) || name.startsWith("limits"))))
      throw wrong(
        `${name} is ${value}; it must be ${name.startsWith("limits") ? "a number" : "a whole number"} above 0.`,
      );
  const judged = cases.cases.find(({ expect }) => expect.some((check) => check.judge !== undefined));
  if (judged && judge === undefined) throw wrong(`The case "${judged.name}" needs a judge: name a model that judges.`);
  if (limits?.cost === undefined) return;
  const unknown = (what: string) =>
    new LimitError("unknown-price", `A cost limit cannot be enforced: ${what} is unknown.`);
  if (session.state.cost === undefined) throw unknown("the cost of this evaluation so far");
  if (typeof judge === "object" && "stream" in judge && judge.price === undefined)
    throw unknown(`the price of ${judge.id}, which judges,`);
}

/** Repetition by repetition, so that early results cover all cases. */
function wantedOf({ cases, columns, repetitions = 1, judge }: EvaluateOptions): PlannedAttempt[] {
  const folders = new Map<string, string>();
  const digestOf = (folder: string) => {
    const known = folders.get(folder) ?? folderDigest(folder);
    folders.set(folder, known);
    return known;
  };
  const by = typeof judge === "object" && "id" in judge ? judge.id : judge && "scripted";
  return Array.from({ length: repetitions }, (_, index) => index + 1).flatMap((repetition) =>
    cases.cases.flatMap((one) =>
      columns.map((column) => {
        const { folder, ...rest } = one;
        const judges = one.expect.some((check) => check.judge !== undefined) ? by : undefined;
        const content = folder === undefined ? undefined : digestOf(folder);
        const key = shortKey([rest, content, column.name, column.key, judges, repetition]);
        return { case: one, column, repetition, key };
      }),
    ),
  );
}

function folderDigest(folder: string): string {
  const hash = createHash("sha256");
  for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" }).sort()) {
    const whole = join(folder, path);
    const found = lstatSync(whole);
    hash.update(`${path}\0${found.mode}\0${found.isSymbolicLink() ? readlinkSync(whole) : ""}\0`);
    if (found.isFile()) hash.update(readFileSync(whole));
  }
  return hash.digest("hex");
}

interface Before {
  readonly tries: number;
  readonly ids: AttemptIds | undefined;
  readonly result: AttemptResult | undefined;
}

function madeBefore(state: ConversationState, key: string): Before {
  let ids: AttemptIds | undefined;
  let result: AttemptResult | undefined;
  for (let tries = 0; ; tries++) {
    const next = attemptIds(key, tries);
    if (!state.messages.has(next.root)) return { tries, ids, result };
    const found = resultIn(state, next.result);
    if (found || !result) ids = next;
    result = found ?? result;
  }
}

function keptAttempt(one: PlannedAttempt, before: Before | undefined): Attempt {
  const { ids, result } = before ?? {};
  return {
    ...attemptNames(one),
    status: result === undefined ? "open" : result.passed ? "passed" : "failed",
    ...(ids && { message: ids.root }),
    ...(result && { result }),
    isKept: result !== undefined,
  };
}

function attemptNames({
  case: { name },
  column,
  repetition,
}: PlannedAttempt): Pick<Attempt, "case" | "column" | "repetition"> {
  return { case: name, column: column.name, repetition };
}

async function tryAttempt(
  one: PlannedAttempt,
  tries: number,
  { session, directory, judge, repetitions = 1 }: EvaluateOptions,
  shared: Pick<AttemptOptions, "allowance" | "signal" | "turns" | "untouched">,
): Promise<Attempt> {
  const ids = attemptIds(one.key, tries);
  const folderFor = (number: number) => resolve(directory, session.id, `${one.key}-${number}`);
  const title = [one.case.name, one.column.name, ...(repetitions > 1 ? [one.repetition] : [])].join(" · ");
  const common = { ...attemptNames(one), isKept: false };
  try {
    if (tries > 0) await removeFolder(folderFor(tries - 1));
    const context = { column: one.column, case: one.case, directory: folderFor(tries) };
    const result = await makeAttempt({ session, ids, title, ...context, judge, ...shared });
    return { ...common, status: result.passed ? "passed" : "failed", message: ids.root, result };
  } catch (error) {
    if (isLogLost(error) || error instanceof LimitError) throw error;
    const message = session.state.messages.has(ids.root) ? { message: ids.root } : {};
    if (shared.turns.aborted) return { ...common, status: "open", ...message };
    return { ...common, status: "error", ...message, error: errorMessage(error) };
  }
}

function evaluationOf(
  { cases, columns, session, repetitions = 1 }: EvaluateOptions,
  attempts: readonly Attempt[],
  stopped: Evaluation["stopped"],
): Evaluation {
  const { usage, cost } = session.state;
  const order = cases.cases.map(({ name }) => name);
  const results = attempts.flatMap(({ result }) => result ?? []);
  const [made, judging] = [results.map(({ spent }) => spent), results.map((result) => result.judging)].map((all) =>
    all.reduce(addCosts, nothingSpent),
  ) as [EvaluationCost, EvaluationCost];
  const known = addCosts(made, judging);
  return {
    name: cases.name,
    conversation: session.id,
    cases: order,
    columns: columns.map(({ name }) => name),
    repetitions,
    attempts: order.flatMap((name) => attempts.filter((attempt) => attempt.case === name)),
    spent: { attempts: made, judging, beside: difference({ usage, cost }, known), all: { usage, cost } },
    // An evaluation that finished in spite of a stop does not count as stopped.
    ...(stopped && attempts.some(({ status }) => status === "open") && { stopped }),
  };
}

function difference(all: EvaluationCost, part: EvaluationCost): EvaluationCost {
  const less = (name: keyof EvaluationCost["usage"]) => Math.max(0, all.usage[name] - part.usage[name]);
  return {
    usage: {
      input: less("input"),
      cached: less("cached"),
      cacheWrite: less("cacheWrite"),
      output: less("output"),
      reasoning: less("reasoning"),
    },
    // Rounds away differences between sums in different orders.
    cost:
      all.cost === undefined || part.cost === undefined
        ? undefined
        : Math.max(0, Math.round((all.cost - part.cost) * 1e9) / 1e9),
  };
}
