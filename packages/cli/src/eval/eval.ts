import { writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { formatDuration } from "@banyan/client/words";
import type { Usage } from "@banyan/core";
import { errorMessage, formatCost } from "@banyan/core/shown";
import {
  type Attempt,
  type Evaluation,
  type EvaluationCost,
  evaluationNotes,
  evaluationSentence,
  evaluationTable,
  junitReport,
  openEvaluation,
  reasonsOf,
  tallyOf,
} from "@banyan/host/evaluation";
import { optionWords, ownCommand } from "@banyan/host/own-command";
import { listing } from "../output/listing.ts";
import { jsonCost } from "../output/report.ts";
import { type ExitCode, exitCodes, StoppedError, stopOnSignals } from "../program/exit.ts";
import { UsageError } from "../program/problem.ts";
import { plainLine } from "../show/plain-text.ts";
import { type Style, styleFor } from "../show/style.ts";
import { table } from "../show/table.ts";
import type { EvalArguments } from "./arguments.ts";

/** `banyan eval`: prints the result table on standard output, and progress and warnings on standard error. */
export function evaluateFile(args: EvalArguments): Promise<ExitCode> {
  return listing(async (write, warn, tell) => {
    const stop = new AbortController();
    using _signals = stopOnSignals(stop);
    const style = styleFor(process.stderr, "auto");
    const say = (line: string) => {
      if (!args.quiet) tell(`${line}\n`);
    };
    const { allow, deny, network, rules, approval, unconfined } = args;
    await using opened = await openEvaluation({
      file: args.file,
      cwd: ".",
      env: process.env,
      home: homedir(),
      signal: stop.signal,
      ...(args.model.length > 0 && { models: args.model }),
      judge: args.judge,
      cost: args.maxCost,
      time: args.timeout,
      fresh: args.new,
      trusted: args.trust,
      directory: args.directory === undefined ? undefined : resolve(args.directory),
      flags: { allow, deny, network, rules: rules && resolve(rules), approval, unconfined },
      notice: (sentence) => say(style.dim(plainLine(sentence))),
    }).catch((error: unknown) => {
      throw stop.signal.reason instanceof StoppedError ? stop.signal.reason : error;
    });
    say(style.dim(`Each attempt is a branch of the conversation ${opened.session.id}.`));
    const evaluation = await opened.run({
      repetitions: args.repetitions,
      atOnce: args.atOnce,
      signal: stop.signal,
      onAttempt: (attempt) => say(progressLine(attempt, style)),
    });
    const exit = exitOf(evaluation, args, stop.signal);
    if (args.junit !== undefined) await writeResultFile(args.junit, junitReport(evaluation));
    if (args.output === "json") write(`${JSON.stringify(evaluationJson(evaluation, exit), null, 2)}\n`);
    else write(`${shownEvaluation(evaluation, process.stdout.columns).join("\n")}\n`);
    if (evaluation.stopped) warn(`Stopped: ${evaluation.stopped.why}. Run the same command again to continue.`);
    return exit;
  });
}

function exitOf({ attempts, stopped }: Evaluation, { minPass }: EvalArguments, signal: AbortSignal): ExitCode {
  if (signal.reason instanceof StoppedError) return signal.reason.problem.exit;
  if (stopped) return exitCodes.limit;
  const { passed } = tallyOf(attempts);
  return passed * 100 >= minPass * attempts.length ? exitCodes.done : exitCodes.failed;
}

async function writeResultFile(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    const why = errorMessage(error);
    throw new UsageError(`${file} cannot be written: ${why}.`, { cause: error });
  }
}

function attemptLabel({ case: name, column, repetition }: Attempt): string {
  return plainLine(`${name} · ${column}${repetition > 1 ? ` #${repetition}` : ""}`);
}

/** Such as `passed  sum · openai/gpt-5 · 2.1 s · $0.01`. */
function progressLine(attempt: Attempt, style: Style): string {
  const { status, result, error } = attempt;
  const mark = status === "passed" ? style.good(status) : status === "open" ? style.dim("stopped") : style.bad(status);
  const took = result ? ` · ${formatDuration(result.seconds * 1_000)} · ${formatCost(result.spent.cost)}` : "";
  const why = error ?? (status === "failed" ? reasonsOf(attempt)[0] : undefined);
  return `${mark}  ${attemptLabel(attempt)}${took}${why === undefined ? "" : ` · ${plainLine(why)}`}`;
}

/** The table, the failed attempts with the commands to open them, and the summary. */
function shownEvaluation(evaluation: Evaluation, width = Number.POSITIVE_INFINITY): string[] {
  const rows = evaluationTable(evaluation).map((cells) => cells.map(plainLine));
  const notes = evaluationNotes(evaluation);
  const broken = evaluation.attempts.filter(({ status }) => status === "failed" || status === "error");
  return [
    ...table(rows, Number.POSITIVE_INFINITY, width),
    ...broken.flatMap((attempt) => ["", ...brokenAttemptLines(attempt, evaluation.conversation)]),
    "",
    ...notes.flatMap((note, at) => [`note  ${plainLine(note)}`, ...(at === notes.length - 1 ? [""] : [])]),
    plainLine(evaluationSentence(evaluation)),
  ];
}

function brokenAttemptLines(attempt: Attempt, conversation: string): string[] {
  const { status, result, error, message } = attempt;
  const why = error === undefined ? [] : [error];
  const place = result ? optionWords("--cwd", result.directory) : [];
  const open = ownCommand([...place, ...optionWords("--resume", conversation), ...optionWords("--at", message ?? "")]);
  return [
    `${status}  ${attemptLabel(attempt)}${attempt.isKept ? " · kept" : ""}`,
    ...[...why, ...reasonsOf(attempt)].map((line) => `  ${plainLine(line)}`),
    ...(message === undefined ? [] : [`  ${open}`]),
  ];
}

function evaluationJson(evaluation: Evaluation, exitCode: ExitCode) {
  const { name, conversation, repetitions, columns, attempts, spent, stopped } = evaluation;
  return {
    type: "evaluation",
    exitCode,
    name,
    conversation,
    repetitions,
    columns: columns.map((column) => {
      const { spent, ...tally } = tallyOf(attempts.filter((attempt) => attempt.column === column));
      return { name: column, ...tally, ...money(spent) };
    }),
    attempts: attempts.map(({ result, isKept, ...attempt }) => ({
      ...attempt,
      kept: isKept,
      ...(result && {
        checks: result.checks,
        denied: result.denied ?? [],
        seconds: result.seconds,
        steps: result.steps,
        ...money(result.spent),
        judging: money(result.judging),
        directory: result.directory,
      }),
    })),
    spent: {
      attempts: money(spent.attempts),
      judging: money(spent.judging),
      beside: money(spent.beside),
      all: money(spent.all),
    },
    notes: evaluationNotes(evaluation),
    stopped: stopped ?? null,
  };
}

function money({ usage, cost }: EvaluationCost): { readonly usage: Usage; readonly cost: number | null } {
  return { usage, cost: jsonCost(cost) };
}
