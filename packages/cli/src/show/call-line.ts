import { type DisplayedCallStatus, failedExit, formatTook, problemsOfCall, shownStatus } from "@banyan/client/words";
import type { Call, Json } from "@banyan/core";
import { type PlanStep, toolNameOf } from "@banyan/core/conversation";
import { counted, cutTo, shownPlan } from "@banyan/core/shown";
import { attachedFile, attachedLine } from "./attachment-lines.ts";
import { excerptLine, linesWithWords, wrapSentence } from "./fit-text.ts";
import type { Style } from "./style.ts";

/** State of a call that waits for the user's answer. */
export const FOR_YOU = "waiting for you";

const WORDS = {
  pending: "waiting",
  "approval-requested": FOR_YOU,
  executing: "running",
  completed: "done",
  failed: "failed",
  denied: "denied",
  cancelled: "cancelled",
  "not-run": "not run",
} as const satisfies Record<DisplayedCallStatus, string>;

/** Describes a call on one line, in the words of its tool, or else by the call's first text argument. */
export function callSummary(call: Call, width: number): string {
  const { about = {} } = call;
  const input = call.executedInput ?? call.input;
  if (input === undefined) return excerptLine(begunText(call.inputText) ?? call.inputText, width);
  if (input === null || typeof input !== "object" || Array.isArray(input))
    return excerptLine(JSON.stringify(input), width);
  const others: readonly Json[] = about.result === undefined ? Object.values(input) : [];
  const texts = [about.title, about.command, about.paths?.[0]?.path, about.url, ...others];
  const main = texts.find((text) => typeof text === "string" && text !== "");
  return typeof main === "string" ? excerptLine(main, width) : "";
}

/** The first text argument as far as it has streamed: its meaning is not known yet. */
function begunText(inputText: string): string | undefined {
  const [, text] = /"\s*:\s*"((?:[^"\\]|\\.)*)/.exec(inputText) ?? [];
  return text?.replaceAll(/\\(.)/g, (_, character: string) => (character === "n" ? "\n" : character));
}

const LEAST_SUMMARY = 8;

/** Returns the beginning of a call's line, such as `• shell  npm test`. */
export function callHead(call: Call, style: Style, columns: number): string {
  const name = excerptLine(toolNameOf(call), 64);
  const tool = name.length;
  const least = columns - tool - 25;
  const room = Math.max(columns - tool - 28, Math.min(20, least));
  // A few letters do not help, and the result must fit on the same line.
  const summary = room < LEAST_SUMMARY ? "" : callSummary(call, room);
  return `${style.accent("•")} ${style.bold(name)}${summary === "" ? "" : `  ${summary}`}`;
}

/** Returns the line of a call up to its state, such as `• shell  npm test … `. */
export function callBegin(call: Call, style: Style, columns: number): string {
  const head = callHead(call, style, columns);
  return `${head}${head.endsWith("…") ? " " : " … "}`;
}

/** Returns the state of a call in a word, such as `running`. */
export function callWord(call: Call): string {
  if (call.status === "pending" && call.input === undefined) return "being written";
  return failedExit(call) ?? WORDS[shownStatus(call)];
}

/**
 * Returns the end of a call's line, such as `done, 1.2 s, 3 files changed`. A command that reported a failure shows its
 * exit code.
 */
export function callEndText(call: Call, style: Style): string {
  const word = callWord(call);
  const status = shownStatus(call);
  const paint = status === "completed" ? style.good : status === "cancelled" ? style.warning : style.bad;
  const { startedAt, endedAt, changedFiles = 0 } = call;
  const took = startedAt === undefined || endedAt === undefined ? "" : formatTook(endedAt - startedAt);
  const changed = changedFiles > 0 ? `, ${counted(changedFiles, "file")} changed` : "";
  return paint(word) + style.dim(took + changed);
}

/** Maximum characters of a reason that is shown in full. */
const SENTENCE = 600;

const FAILED_SHOWN = 10;

/**
 * Returns the lines below a call: the files that it returned, a test run's failures, or the end of a failed call's
 * output, with the number of hidden lines (T49). `shower`: the key that shows all lines.
 */
export function callDetails(call: Call, style: Style, columns: number, shower?: string): string[] {
  if (call.about?.plan && call.status === "completed") return planStepLines(call.about.plan, style, columns);
  if (call.files) return attachedLine(call.files.map(attachedFile)).map((line) => `    ${style.dim(line)}`);
  const problems = problemLines(problemsOfCall(call), style, columns);
  const status = shownStatus(call);
  if (status !== "failed" && status !== "not-run" && status !== "denied") return problems;
  const exit = failedExit(call);
  const output = call.output ?? "";
  const said = exit === undefined ? output : output.slice(0, -exit.length).replace(/\n$/, "");
  const lines = linesWithWords(said);
  const shown = failuresIn(lines, FAILED_SHOWN);
  const more = lines.length - shown.length;
  const how = shower === undefined ? "" : `; ${shower} shows all`;
  const hint = more > 0 ? [`… (${counted(more, "more line")}${how})`] : [];
  const width = Math.max(20, columns - 6);
  // Wrap a reason, but keep the lines of a program's output.
  const isSentence = lines.length === 1 && (lines[0] ?? "").length <= SENTENCE;
  const fit = (line: string) => (line.length > width ? cutTo(line, width - 1) : line);
  const fitted = isSentence ? wrapSentence(lines[0] ?? "", width).split("\n") : shown.map(fit);
  return [...problems, ...[...hint, ...fitted].map((line) => `    ${style.dim(line)}`)];
}

/** Shows new problems after a change, each on a line of its own, by severity. */
export function problemLines(problems: readonly string[], style: Style, columns: number): string[] {
  return problems.map((problem) => {
    const line = excerptLine(problem, Math.max(20, columns - 6));
    return `    ${problem.includes(": error: ") ? style.bad(line) : style.warning(line)}`;
  });
}

const STEPS_SHOWN = 10;

/** Returns the steps of a plan as lines. The current step is bold, completed steps are dim. */
export function planStepLines(plan: readonly PlanStep[], style: Style, columns: number, most = STEPS_SHOWN): string[] {
  return shownPlan(plan, most).map(({ mark, text, status }) => {
    const line = excerptLine(`${mark} ${text}`.trim(), Math.max(20, columns - 6));
    return `    ${status === "in_progress" ? style.bold(line) : status === "pending" ? line : style.dim(line)}`;
  });
}

/** The first words of a failure's report in Node, Python, Go, Rust and TAP. */
const FAILURE =
  /^\s*(?:(?:FAIL(?:ED|URE)?|ERROR|not ok|✖|✗|✕|×|●|--- FAIL|failures:|AssertionError|panicked at)(?:[\s:]|$)|E\s{3}|thread '.*' panicked)/;

/** Node's heading before the details of failed tests. Above it, Node only lists their names. */
const WHAT_FAILED = /^\s*✖ failing tests:\s*$/;

/** Selects the last lines. For a test run: the failure report, or the lines from the first failure. */
function failuresIn(lines: readonly string[], most: number): readonly string[] {
  if (lines.length <= most) return lines;
  const failure = lines.findLastIndex((line) => WHAT_FAILED.test(line));
  if (failure >= 0) return lines.slice(Math.min(failure, lines.length - most)).slice(0, most);
  const isFailure = (line: string) => FAILURE.test(line);
  const last = lines.slice(-most);
  if (last.some(isFailure)) return last;
  const first = lines.findIndex(isFailure);
  return first < 0 ? last : lines.slice(first, first + most);
}
