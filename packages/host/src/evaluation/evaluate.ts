import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { type ConversationState, LimitError, type Session } from "@banyan/core";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { formatDuration } from "@banyan/core/shown";
import { Allowance } from "./allowance.ts";
import { type Column, isLost, type Making, makeAttempt, messageOf } from "./attempt.ts";
import { removeFolder } from "./case-files.ts";
import type { Case, Cases } from "./cases.ts";
import type { Judge } from "./judge.ts";
import { type AttemptIds, type AttemptResult, idsOf, keyOf, resultIn, type Spending } from "./record.ts";
import { reportMessage } from "./report.ts";
import { nothingSpent, sumOf } from "./turns.ts";

/** Attempts at once when nobody says how many. */
const AT_ONCE = 4;

/**
 * What is evaluated, in which conversation, and within which limits.
 * @example
 * const column = {
 *   name: "plain",
 *   key: "2",
 *   open: ({ directory }: AttemptPlace) => ({ agent: new Agent({ model, tools: workspaceTools({ root: directory }) }) }),
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
  /** Who is compared; each has a name of its own. */
  readonly columns: readonly Column[];
  /** The conversation: each attempt is a branch of it. One in which attempts are is gone on with. */
  readonly session: Session;
  /** Where the folders of attempts are made. They stay, so that an attempt can be gone on with. */
  readonly directory: string;
  /** The model that judges; needed where checks have a `judge`. */
  readonly judge?: Judge | undefined;
  /** Attempts of each case in each column. Default 1. */
  readonly repetitions?: number | undefined;
  /** Attempts at once. Default 4. */
  readonly atOnce?: number | undefined;
  /** Of all attempts and judges together: US dollars, with what was spent before, and milliseconds of this call. */
  readonly limits?: { readonly cost?: number | undefined; readonly time?: number | undefined } | undefined;
  /** Interrupts what runs; what has a result by then keeps it. */
  readonly signal?: AbortSignal | undefined;
  /** An attempt has ended, one way or another. Must not throw. */
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
 * How an attempt stands. `passed`: all of its checks hold. `failed`: one does not. `error`: it came to nothing that could be checked, as when
 * the model could not respond. `open`: it was not made, or not to its end. The last two are made anew by the next call.
 */
export type AttemptStatus = "passed" | "failed" | "error" | "open";

/** One case, once, in one column. */
export interface Attempt {
  readonly case: string;
  readonly column: string;
  /** From 1. */
  readonly repetition: number;
  readonly status: AttemptStatus;
  /** The message with which its branch begins; absent while it has none. */
  readonly message?: string;
  /** What came of it, when it `passed` or `failed`. */
  readonly result?: AttemptResult;
  /** Why there is none: one sentence. */
  readonly error?: string;
  /** Its result was there before. */
  readonly isKept: boolean;
}

/** What an evaluation came to. */
export interface Evaluation {
  readonly name: string;
  /** The id of its conversation. */
  readonly conversation: string;
  readonly cases: readonly string[];
  readonly columns: readonly string[];
  readonly repetitions: number;
  /** Case by case, in the order of the columns. */
  readonly attempts: readonly Attempt[];
  readonly spent: {
    /** By the turns of attempts that have a result. */
    readonly attempts: Spending;
    /** By those who judged them. */
    readonly judging: Spending;
    /** By attempts that were cut off or failed, and by whoever went on with one. */
    readonly beside: Spending;
    /** All of it: what the conversation has counted. */
    readonly all: Spending;
  };
  /** Why it did not come to its end. */
  readonly stopped?: { readonly reason: "limit" | "interrupted"; readonly why: string };
}

/** An evaluation that cannot be begun, for a reason that is no fault of its file. */
export class EvaluationError extends Error {
  override readonly name = "EvaluationError";
}

/** An attempt that is wanted. */
interface Wanted {
  readonly case: Case;
  readonly column: Column;
  readonly repetition: number;
  readonly key: string;
}

/**
 * Makes each case's attempts in each column, each on a branch of its own and in a folder of its own, and checks them. An attempt
 * whose result stands in the conversation is not made again, so the same call goes on where an earlier one stopped, however it
 * stopped; one without a result begins anew, and what it had cost stays counted. A case or a column that was changed has other
 * attempts. Rejects with `EvaluationError`, or `LimitError` where a price is unknown, before anything is spent, and with `StoreError` or `SessionError` when nothing can be
 * written any more.
 */
export async function evaluate(options: EvaluateOptions): Promise<Evaluation> {
  const { session, cases, limits = {}, signal = new AbortController().signal, onAttempt = () => {} } = options;
  refuseUnknown("evaluate", options, OPTIONS);
  checkOptions(options);
  const wanted = wantedOf(options);
  const kept = new Map(wanted.map((one) => [one, madeBefore(session.state, one.key)] as const));
  const halt = new AbortController();
  let stopped: Evaluation["stopped"];
  const stop = (reason: "limit" | "interrupted", why: string) => {
    stopped ??= { reason, why };
    halt.abort(new Error(`The evaluation stopped: ${why}.`));
  };
  if (session.state.title === undefined) await session.rename(`Evaluation of ${cases.name}`);
  using allowance =
    limits.cost === undefined ? undefined : new Allowance(session, limits.cost, (why) => stop("limit", why));
  const out = AbortSignal.any([signal, ...(limits.time === undefined ? [] : [AbortSignal.timeout(limits.time)])]);
  const onOut = () =>
    signal.aborted
      ? stop("interrupted", "it was interrupted")
      : stop("limit", `the limit of ${formatDuration(limits.time ?? 0)} is reached`);
  out.addEventListener("abort", onOut, { once: true });
  if (out.aborted) onOut();

  const ended = new Map<Wanted, Attempt>();
  const looks = new Map<Case, Promise<readonly boolean[]>>();
  const waiting = wanted.filter((one) => !kept.get(one)?.result);
  if (waiting.length > 0) allowance?.look();
  const work = async () => {
    for (let one = waiting.shift(); one && !halt.signal.aborted; one = waiting.shift()) {
      const attempt = await make(one, kept.get(one)?.tries ?? 0, options, {
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

/** Throws `EvaluationError` for what only a program can get wrong. */
function checkOptions({ cases, columns, judge, limits, session, atOnce, repetitions }: EvaluateOptions): void {
  const wrong = (message: string) => new EvaluationError(message);
  if (columns.length === 0) throw wrong("There is nothing to evaluate: name at least one column.");
  const twice = columns.find(({ name }, index) => columns.findIndex((one) => one.name === name) !== index);
  if (twice) throw wrong(`Two columns have the name "${twice.name}": give each its own.`);
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
  if (judged && judge === undefined) throw wrong(`The case "${judged.name}" needs a judge, and there is none.`);
  if (limits?.cost === undefined) return;
  const unknown = (what: string) =>
    new LimitError("unknown-price", `A cost limit cannot be enforced: ${what} is unknown.`);
  if (session.state.cost === undefined) throw unknown("the cost of this evaluation so far");
  if (typeof judge === "object" && "stream" in judge && judge.price === undefined)
    throw unknown(`the price of ${judge.id}, which judges,`);
}

/** All attempts, one repetition after the other, so that what is there early is of all cases. */
function wantedOf({ cases, columns, repetitions = 1, judge }: EvaluateOptions): Wanted[] {
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
        const key = keyOf([rest, content, column.name, column.key, judges, repetition]);
        return { case: one, column, repetition, key };
      }),
    ),
  );
}

/** A text that is another one when anything in a folder is. */
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

/** What stands of an attempt in the conversation: how often it was begun, and its result. */
interface Before {
  readonly tries: number;
  readonly ids: AttemptIds | undefined;
  readonly result: AttemptResult | undefined;
}

function madeBefore(state: ConversationState, key: string): Before {
  let ids: AttemptIds | undefined;
  let result: AttemptResult | undefined;
  for (let tries = 0; ; tries++) {
    const next = idsOf(key, tries);
    if (!state.messages.has(next.root)) return { tries, ids, result };
    const found = resultIn(state, next.result);
    if (found || !result) ids = next;
    result = found ?? result;
  }
}

function keptAttempt(one: Wanted, before: Before | undefined): Attempt {
  const { ids, result } = before ?? {};
  return {
    ...namesOf(one),
    status: result === undefined ? "open" : result.passed ? "passed" : "failed",
    ...(ids && { message: ids.root }),
    ...(result && { result }),
    isKept: result !== undefined,
  };
}

function namesOf({ case: { name }, column, repetition }: Wanted): Pick<Attempt, "case" | "column" | "repetition"> {
  return { case: name, column: column.name, repetition };
}

async function make(
  one: Wanted,
  tries: number,
  { session, directory, judge, repetitions = 1 }: EvaluateOptions,
  shared: Pick<Making, "allowance" | "signal" | "turns" | "untouched">,
): Promise<Attempt> {
  const ids = idsOf(one.key, tries);
  const folderFor = (number: number) => resolve(directory, session.id, `${one.key}-${number}`);
  const title = [one.case.name, one.column.name, ...(repetitions > 1 ? [one.repetition] : [])].join(" · ");
  const common = { ...namesOf(one), isKept: false };
  try {
    // What was cut off is not gone on with.
    if (tries > 0) await removeFolder(folderFor(tries - 1));
    const place = { column: one.column, case: one.case, directory: folderFor(tries) };
    const result = await makeAttempt({ session, ids, title, ...place, judge, ...shared });
    return { ...common, status: result.passed ? "passed" : "failed", message: ids.root, result };
  } catch (error) {
    if (isLost(error) || error instanceof LimitError) throw error;
    const message = session.state.messages.has(ids.root) ? { message: ids.root } : {};
    if (shared.turns.aborted) return { ...common, status: "open", ...message };
    return { ...common, status: "error", ...message, error: messageOf(error) };
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
    all.reduce(sumOf, nothingSpent),
  ) as [Spending, Spending];
  const known = sumOf(made, judging);
  return {
    name: cases.name,
    conversation: session.id,
    cases: order,
    columns: columns.map(({ name }) => name),
    repetitions,
    attempts: order.flatMap((name) => attempts.filter((attempt) => attempt.case === name)),
    spent: { attempts: made, judging, beside: difference({ usage, cost }, known), all: { usage, cost } },
    // What came to its end all the same was not stopped.
    ...(stopped && attempts.some(({ status }) => status === "open") && { stopped }),
  };
}

function difference(all: Spending, part: Spending): Spending {
  const less = (name: keyof Spending["usage"]) => Math.max(0, all.usage[name] - part.usage[name]);
  return {
    usage: {
      input: less("input"),
      cached: less("cached"),
      cacheWrite: less("cacheWrite"),
      output: less("output"),
      reasoning: less("reasoning"),
    },
    // Sums in another order differ by less than anything costs.
    cost:
      all.cost === undefined || part.cost === undefined
        ? undefined
        : Math.max(0, Math.round((all.cost - part.cost) * 1e9) / 1e9),
  };
}
