import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { formatDuration } from "@banyan/client/words";
import { counted, errorMessage, parseJsonText } from "@banyan/core/shown";
import { meantPath } from "@banyan/tools/named-path";
import type { Sandbox } from "@banyan/tools/sandbox";
import { locate, openFileAt, openWorkspace, runInWorkspace, WorkspaceError } from "@banyan/tools/workspace";
import { Validator } from "@cfworker/json-schema";
import type { Redact } from "../redaction/redactor.ts";
import { type CaseCheck, type CheckResult, describeCheck, quoteShortened, SHOWN } from "./case-check.ts";
import { type CaseFiles, restoreFiles } from "./case-files.ts";

/** Milliseconds. */
const PATIENCE = 60_000;

const LARGEST = 4 * 1024 * 1024;

/** Milliseconds. */
const PATTERN_PATIENCE = 10_000;

/** The outcome of an attempt or a turn, which checks examine. */
export interface AttemptOutcome {
  /** The files that checks restore while they run. */
  readonly case: CaseFiles;
  readonly directory: string;
  /** The agent's last answer. */
  readonly answer: string;
  /** The agent's sandbox, also for commands of checks. */
  readonly sandbox: Sandbox | undefined;
  readonly redact: Redact | undefined;
  /** Maximum characters of a command's output in the reason. Default: a line of 400 characters. */
  readonly told?: number | undefined;
  readonly signal: AbortSignal;
}

/** Runs a check that needs no judge. Rejects with the reason of the signal. */
export async function runCheck(check: CaseCheck, outcome: AttemptOutcome): Promise<CheckResult> {
  const what = describeCheck(check);
  const { why, ...files } = await finding(check, outcome).catch((error: unknown) => {
    outcome.signal.throwIfAborted();
    if (error instanceof WorkspaceError) return { why: error.message };
    throw error;
  });
  outcome.signal.throwIfAborted();
  const found = why === undefined ? { holds: true, what } : { holds: false, what, why: outcome.redact?.(why) ?? why };
  return { ...found, ...files };
}

/**
 * Returns for each check whether it passes before the agent has worked. Does not ask judges, because that costs money.
 */
export async function holdUntouched(
  checks: readonly CaseCheck[],
  outcome: Omit<AttemptOutcome, "answer">,
): Promise<boolean[]> {
  const all: boolean[] = [];
  for (const check of checks)
    all.push(check.judge === undefined && (await runCheck(check, { ...outcome, answer: "" })).holds);
  return all;
}

function millisOf(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1_000;
}

/** `why`: the reason why a check does not hold. */
type CheckFinding = { readonly why: string | undefined } & Pick<CheckResult, "restored" | "changed">;

async function finding(check: CaseCheck, outcome: AttemptOutcome): Promise<CheckFinding> {
  const { command, file } = check;
  if (command !== undefined) {
    await using files = await restoreFiles(outcome.directory, outcome.case, check);
    const { restored, named: changed } = files;
    const why = await whyCommandNot(command, check, outcome);
    return { why, ...(restored.length > 0 && { restored }), ...(changed.length > 0 && { changed }) };
  }
  if (file === undefined) return { why: await whyTextNot(outcome.answer, check, outcome.signal) };
  const found = await readAttemptFile(outcome.directory, file);
  if (check.exists) return { why: found.state === "missing" ? found.why : undefined };
  if (check.absent) return { why: found.state === "missing" ? undefined : "it is there" };
  return { why: found.state === "read" ? await whyTextNot(found.text, check, outcome.signal) : found.why };
}

async function whyCommandNot(
  command: string,
  check: CaseCheck,
  { directory, sandbox, redact, told, signal }: AttemptOutcome,
): Promise<string | undefined> {
  const { exit = 0, seconds } = check;
  const timeout = millisOf(seconds) ?? PATIENCE;
  const { end, output } = await runInWorkspace(openWorkspace(directory), command, {
    sandbox,
    timeout,
    signal,
    redaction: redact && (() => redact.stream()),
  });
  const tail = outputTail(output.trim(), told ?? SHOWN);
  const said = tail === "" ? "it printed nothing" : `it printed ${told ? `\n${tail}` : quoteShortened(tail)}`;
  if (end.type === "timed-out") return `it did not end within ${formatDuration(timeout)} and was stopped; ${said}`;
  if (end.type === "cancelled") return "it was stopped";
  if (end.type === "lost") return `its sandbox ended before it; ${said}`;
  if (end.code !== exit) return `it exited with ${end.code}; ${said}`;
  return whyTextNot(output, check, signal);
}

/** `equals` ignores white space at the end. */
async function whyTextNot(
  text: string,
  { equals, contains, lacks, matches, schema, seconds }: CaseCheck,
  signal: AbortSignal,
): Promise<string | undefined> {
  const found = () => (text.trim() === "" ? "it is empty" : `it is ${quoteShortened(text.trim())}`);
  if (equals !== undefined && text.trimEnd() !== equals.trimEnd()) return found();
  if (contains !== undefined && !text.includes(contains)) return found();
  if (lacks !== undefined && text.includes(lacks)) return `it contains ${quoteShortened(lacks)}`;
  const unfit = schema && whySchemaNot(text, schema);
  if (unfit !== undefined) return unfit;
  if (matches === undefined) return undefined;
  const time = millisOf(seconds) ?? PATTERN_PATIENCE;
  const isMatch = await testPattern(matches, text, AbortSignal.timeout(time), signal);
  if (isMatch === undefined) return `/${matches}/ did not end within ${formatDuration(time)} and was stopped`;
  return isMatch ? undefined : found();
}

function whySchemaNot(text: string, schema: NonNullable<CaseCheck["schema"]>): string | undefined {
  const value = parseJsonText(text);
  if (value === undefined) return "it is no JSON";
  const { valid, errors } = new Validator(schema, "2020-12").validate(value);
  const { instanceLocation = "#", error = "" } = errors.at(-1) ?? {};
  return valid ? undefined : `it${instanceLocation.slice(1).replaceAll("/", ".")} does not fit the schema: ${error}`;
}

const MATCHER = `
  const { parentPort, workerData: [pattern, text] } = require("node:worker_threads");
  parentPort.postMessage(new RegExp(pattern, "m").test(text));`;

/** Returns whether a text matches; `undefined` if `bound` aborts. Uses a thread, since a pattern may run forever. */
async function testPattern(
  pattern: string,
  text: string,
  bound: AbortSignal,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const worker = new Worker(MATCHER, { eval: true, workerData: [pattern, text] });
  try {
    const [isMatch] = await once(worker, "message", { signal: AbortSignal.any([signal, bound]) });
    return isMatch;
  } catch (error) {
    signal.throwIfAborted();
    if (bound.aborted) return undefined;
    throw error;
  } finally {
    await worker.terminate();
  }
}

/** Reads a file of an attempt, or returns the reason why it cannot. Does not follow links out of the folder. */
export async function readAttemptFile(
  directory: string,
  path: string,
): Promise<
  { readonly state: "read"; readonly text: string } | { readonly state: "missing" | "unreadable"; readonly why: string }
> {
  try {
    const workspace = openWorkspace(directory);
    const location = await locate(workspace, meantPath(path, workspace));
    if (location.kind === "missing") return { state: "missing", why: "it is not there" };
    await using file = await openFileAt(workspace, location);
    const { size } = file.stats;
    if (size > LARGEST) return { state: "unreadable", why: `it has ${counted(size, "byte")}, more than ${LARGEST}` };
    return { state: "read", text: await file.handle.readFile("utf8") };
  } catch (error) {
    return { state: "unreadable", why: errorMessage(error) };
  }
}

/** Errors are usually at the end. */
function outputTail(output: string, most: number): string {
  return output.length <= most ? output : `…${output.slice(1 - most).toWellFormed()}`;
}
