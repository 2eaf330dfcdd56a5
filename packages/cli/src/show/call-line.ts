import type { Call, Json } from "@banyan/core";
import { type PlanStep, toolOf } from "@banyan/core/conversation";
import { counted, cutTo, formatTook, type ShownStatus, shownPlan, shownStatus } from "@banyan/core/shown";
import { attachedFile, attachedLine } from "./attached.ts";
import { excerpt, linesWithWords, wrap } from "./fit-text.ts";
import type { Style } from "./style.ts";

/** How a call stands that a person is asked about, or that asks one. */
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
} as const satisfies Record<ShownStatus, string>;

/** What a call is about, on one line, as its tool says; of one that does not say, its first text. */
export function callSummary(call: Call, width: number): string {
  const { about = {} } = call;
  const input = call.executedInput ?? call.input;
  if (input === undefined) return excerpt(begunText(call.inputText) ?? call.inputText, width);
  if (input === null || typeof input !== "object" || Array.isArray(input)) return excerpt(JSON.stringify(input), width);
  // What a task came to is shown by itself, as its answer.
  const others: readonly Json[] = about.result === undefined ? Object.values(input) : [];
  const texts = [about.title, about.command, about.paths?.[0]?.path, about.url, ...others];
  const main = texts.find((text) => typeof text === "string" && text !== "");
  return typeof main === "string" ? excerpt(main, width) : "";
}

/** The first text among the arguments, as far as the model has written them: what it is about, nobody can say yet. */
function begunText(inputText: string): string | undefined {
  const [, text] = /"\s*:\s*"((?:[^"\\]|\\.)*)/.exec(inputText) ?? [];
  return text?.replaceAll(/\\(.)/g, (_, character: string) => (character === "n" ? "\n" : character));
}

/** Characters of what a call is about that are shown at the least. */
const LEAST_SUMMARY = 8;

/** `• shell  npm test`: the beginning of a call's line. */
export function callHead(call: Call, style: Style, columns: number): string {
  const name = excerpt(toolOf(call), 64);
  const tool = name.length;
  const least = columns - tool - 25;
  const room = Math.max(columns - tool - 28, Math.min(20, least));
  // Of a few letters nobody learns anything, and how it ended is to stand on the same line.
  const summary = room < LEAST_SUMMARY ? "" : callSummary(call, room);
  return `${style.accent("•")} ${style.bold(name)}${summary === "" ? "" : `  ${summary}`}`;
}

/** `• shell  npm test … `: the line up to how the call stands, which follows. */
export function callBegin(call: Call, style: Style, columns: number): string {
  const head = callHead(call, style, columns);
  // What was cut there has its dots already.
  return `${head}${head.endsWith("…") ? " " : " … "}`;
}

/** `running`: how a call stands, in a word. */
export function callWord(call: Call): string {
  if (call.status === "pending" && call.input === undefined) return "being written";
  return exitCodeOf(call) ?? WORDS[shownStatus(call)];
}

/** `done, 1.2 s`: the end of it. A command that ran and says that it failed is told by its exit code. */
export function callEnd(call: Call, style: Style): string {
  const word = callWord(call);
  const good = call.status === "completed" && exitCodeOf(call) === undefined;
  const paint = good ? style.good : call.status === "cancelled" ? style.warning : style.bad;
  const { startedAt, endedAt } = call;
  return (
    paint(word) + style.dim(startedAt === undefined || endedAt === undefined ? "" : formatTook(endedAt - startedAt))
  );
}

/** Characters of a reason that is shown whole. */
const SENTENCE = 600;

/** Lines of what a failed call said that are shown. */
const FAILED_SHOWN = 10;

/**
 * The lines below it: for a call that did not do what it should, the end of what it said, and how much more there is (T49);
 * of a run of tests, what it says of those that failed; the files that a call brought. `shower`: the key that shows all.
 */
export function callDetails(call: Call, style: Style, columns: number, shower?: string): string[] {
  if (call.about?.plan && call.status === "completed") return stepLines(call.about.plan, style, columns);
  if (call.files) return attachedLine(call.files.map(attachedFile)).map((line) => `    ${style.dim(line)}`);
  if (call.status !== "failed" && call.status !== "denied" && exitCodeOf(call) === undefined) return [];
  const said = (call.output ?? "").replace(EXIT_CODE, "");
  const lines = linesWithWords(said);
  const shown = failuresIn(lines, FAILED_SHOWN);
  const more = lines.length - shown.length;
  const how = shower === undefined ? "" : `; ${shower} shows all`;
  const hint = more > 0 ? [`… (${counted(more, "more line")}${how})`] : [];
  const width = Math.max(20, columns - 6);
  // A sentence that says why is read whole; lines of a program stay lines.
  const isSentence = lines.length === 1 && (lines[0] ?? "").length <= SENTENCE;
  const fit = (line: string) => (line.length > width ? cutTo(line, width - 1) : line);
  const fitted = isSentence ? wrap(lines[0] ?? "", width).split("\n") : shown.map(fit);
  return [...hint, ...fitted].map((line) => `    ${style.dim(line)}`);
}

/** Steps of a plan that stand below the call that puts it down. */
const STEPS_SHOWN = 10;

/** A plan: what is under way stands out, what is done steps back. */
export function stepLines(plan: readonly PlanStep[], style: Style, columns: number, most = STEPS_SHOWN): string[] {
  return shownPlan(plan, most).map(({ mark, text, status }) => {
    const line = excerpt(`${mark} ${text}`.trim(), Math.max(20, columns - 6));
    return `    ${status === "in_progress" ? style.bold(line) : status === "pending" ? line : style.dim(line)}`;
  });
}

/** How test runners begin what they say of a test that failed, or of all of them: of Node, Python, Go, Rust and TAP. */
const FAILURE =
  /^\s*(?:(?:FAIL(?:ED|URE)?|ERROR|not ok|✖|✗|✕|×|●|--- FAIL|failures:|AssertionError|panicked at)(?:[\s:]|$)|E\s{3}|thread '.*' panicked)/;

/** Behind it Node says what was wrong, once all tests have run; before, it only names those that failed. */
const WHAT_FAILED = /^\s*✖ failing tests:\s*$/;

/**
 * The last lines; but of a run of tests what it says of those that failed, or, where failures stand above the last lines, those
 * that tell of the first of these.
 */
function failuresIn(lines: readonly string[], most: number): readonly string[] {
  if (lines.length <= most) return lines;
  const told = lines.findLastIndex((line) => WHAT_FAILED.test(line));
  if (told >= 0) return lines.slice(Math.min(told, lines.length - most)).slice(0, most);
  const isFailure = (line: string) => FAILURE.test(line);
  const last = lines.slice(-most);
  if (last.some(isFailure)) return last;
  const first = lines.findIndex(isFailure);
  return first < 0 ? last : lines.slice(first, first + most);
}

const EXIT_CODE = /(?:^|\n)(exit code \d+)$/;

function exitCodeOf(call: Call): string | undefined {
  return call.about?.command !== undefined && call.status === "completed"
    ? EXIT_CODE.exec((call.output ?? "").slice(-40))?.[1]
    : undefined;
}
