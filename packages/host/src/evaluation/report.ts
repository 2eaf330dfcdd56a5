import { formatDuration, shortCount } from "@banyan/client/words";
import { totalTokens } from "@banyan/core/conversation";
import { counted, formatCost, visibleText } from "@banyan/core/shown";
import type { EvaluationCost } from "../checks/case-check.ts";
import { addCosts, nothingSpent } from "../checks/turns.ts";
import type { Attempt, Evaluation } from "./record.ts";
import { shortKey } from "./record.ts";

/** Counts and cost of some attempts: those of a case in a column, of a column, or all. See {@link tallyText}. */
export interface Tally {
  readonly attempts: number;
  readonly passed: number;
  readonly failed: number;
  readonly errors: number;
  readonly open: number;
  /** Number of results from an earlier evaluation. */
  readonly kept: number;
  /** Seconds of turns, without the checks. */
  readonly seconds: number;
  readonly spent: EvaluationCost;
}

/**
 * Counts the results of attempts and adds up their cost.
 * @example const { passed, failed } = tallyOf(evaluation.attempts);
 */
export function tallyOf(attempts: readonly Attempt[]): Tally {
  const count = (status: Attempt["status"]) => attempts.filter((attempt) => attempt.status === status).length;
  const results = attempts.flatMap(({ result }) => result ?? []);
  return {
    attempts: attempts.length,
    passed: count("passed"),
    failed: count("failed"),
    errors: count("error"),
    open: count("open"),
    kept: attempts.filter(({ isKept }) => isKept).length,
    seconds: results.reduce((sum, { seconds }) => sum + seconds, 0),
    spent: results.reduce((sum, { spent, judging }) => addCosts(sum, addCosts(spent, judging)), nothingSpent),
  };
}

/**
 * Returns the number of passed attempts, time, tokens and cost as a short text, such as `2/3 · 12.0 s · 3.4k · $0.02`.
 * @example console.log(tallyText(tallyOf(evaluation.attempts)));
 */
export function tallyText(tally: Tally): string {
  const { attempts, passed, errors, open, kept, seconds, spent } = tally;
  const rest = [
    errors > 0 ? counted(errors, "error") : "",
    open > 0 ? `${open} open` : "",
    kept > 0 ? `${kept} kept` : "",
  ].filter(Boolean);
  const how = [`${passed}/${attempts}`, ...rest].join(", ");
  if (passed + tally.failed === 0) return how;
  return [how, formatDuration(seconds * 1_000), shortCount(totalTokens(spent.usage)), formatCost(spent.cost)].join(
    " · ",
  );
}

/**
 * Returns the result table. Each case is a row, and the sum is the last row. Each configuration is a column. Names come
 * first.
 * @example for (const row of evaluationTable(evaluation)) console.log(row.join("  "));
 */
export function evaluationTable({ cases, columns, attempts }: Evaluation): string[][] {
  const cell = (wanted: (attempt: Attempt) => boolean) => tallyText(tallyOf(attempts.filter(wanted)));
  return [
    ["", ...columns],
    ...cases.map((name) => [
      name,
      ...columns.map((column) => cell((attempt) => attempt.case === name && attempt.column === column)),
    ]),
    ["all", ...columns.map((column) => cell((attempt) => attempt.column === column))],
  ];
}

/**
 * Returns the result of an evaluation in one or two sentences.
 * @example console.log(evaluationSentence(evaluation));
 */
export function evaluationSentence({ attempts, spent, stopped }: Evaluation): string {
  const { passed, failed, errors, open, kept } = tallyOf(attempts);
  const others = [
    failed > 0 ? `${failed} failed` : "",
    errors > 0 ? `${counted(errors, "attempt")} ended with an error` : "",
    open > 0 ? `${open} not made` : "",
    kept > 0 ? `${kept} kept from an earlier run` : "",
  ].filter(Boolean);
  const parts = [
    ["judges", spent.judging],
    ["attempts without a result", spent.beside],
  ] as const;
  const beside = parts.flatMap(([what, { usage, cost }]) =>
    cost !== 0 && (totalTokens(usage) > 0 || cost !== undefined) ? [`${what} ${formatCost(cost)}`] : [],
  );
  const money = `${formatCost(spent.all.cost)}${beside.length > 0 ? `, of it ${beside.join(", ")}` : ""}`;
  const sum = `${passed} of ${counted(attempts.length, "attempt")} passed${others.map((one) => `, ${one}`).join("")}; cost ${money}.`;
  return stopped ? `${sum} Stopped: ${stopped.why}.` : sum;
}

/**
 * Returns warnings about the results, without duplicates, in the order of the cases.
 * @example for (const note of evaluationNotes(evaluation)) console.error(note);
 */
export function evaluationNotes({ attempts }: Evaluation): string[] {
  const notes = attempts.flatMap(({ case: name, result }) =>
    (result?.checks ?? []).flatMap(({ what, holdsUntouched, restored, changed }) => [
      ...(holdsUntouched ? [`${name}: ${what}: this check passes before the agent does anything.`] : []),
      ...(restored
        ? [
            `${name}: ${what}: the agent changed ${restored.join(", ")}, but the command ran with the files of the case.`,
          ]
        : []),
      ...(changed
        ? [
            `${name}: ${what}: the agent changed ${changed.join(", ")}, which the command names. Write restore: [${changed.join(", ")}] to check with the files of the case, or restore: [] to allow the change.`,
          ]
        : []),
    ]),
  );
  return [...new Set(notes)];
}

/**
 * Returns why an attempt did not pass: failed checks, then denied calls.
 * @example for (const attempt of evaluation.attempts) console.log(attempt.case, reasonsOf(attempt));
 */
export function reasonsOf({ result }: Attempt): string[] {
  return [
    ...(result?.checks ?? []).flatMap(({ holds, what, why }) => (holds ? [] : [`${what}: ${why}`])),
    ...(result?.denied ?? []).map((call) => `a call was denied: ${call}`),
  ];
}

/** Returns the message with the result table for the evaluation's conversation. */
export function reportMessage(evaluation: Evaluation) {
  const rows = evaluationTable(evaluation).map(
    (cells) => `| ${cells.map((text) => text.replaceAll("|", "\\|")).join(" | ")} |`,
  );
  const rule = `|${" --- |".repeat(evaluation.columns.length + 1)}`;
  const table = [rows[0], rule, ...rows.slice(1)].join("\n");
  const notes = evaluationNotes(evaluation).map((note) => `\n- ${note}`);
  const text = `Evaluation of ${evaluation.name}\n\n${table}\n\n${evaluationSentence(evaluation)} Each attempt is a branch of this conversation.${notes.length > 0 ? `\n${notes.join("")}` : ""}`;
  return [text, { at: null, id: `report-${shortKey(text)}`, author: "system" }] as const;
}

/**
 * Returns the results as JUnit XML. Each column is a suite, and each attempt is a test. An unfinished attempt is an
 * error.
 * @example await writeFile("junit.xml", junitReport(evaluation));
 */
export function junitReport({ name, columns, repetitions, attempts }: Evaluation): string {
  const numbers = (all: readonly Attempt[]) => {
    const { attempts: tests, failed, errors, open, seconds } = tallyOf(all);
    return `tests="${tests}" failures="${failed}" errors="${errors + open}" time="${seconds.toFixed(3)}"`;
  };
  const suites = columns.map((column) => {
    const own = attempts.filter((attempt) => attempt.column === column);
    const tests = own.map((attempt) => testCase(attempt, repetitions));
    return `  <testsuite name="${xml(column)}" ${numbers(own)}>\n${tests.join("")}  </testsuite>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="${xml(name)}" ${numbers(attempts)}>\n${suites.join("")}</testsuites>\n`;
}

function testCase(attempt: Attempt, repetitions: number): string {
  const { case: name, column, repetition, status, result, error, isKept } = attempt;
  const title = repetitions > 1 ? `${name} #${repetition}` : name;
  const head = `    <testcase name="${xml(title)}" classname="${xml(column)}" time="${(result?.seconds ?? 0).toFixed(3)}"`;
  const kept = isKept ? ["      <system-out>kept from an earlier run</system-out>\n"] : [];
  const reasons = reasonsOf(attempt);
  const [tag, message, body] =
    status === "failed"
      ? ["failure", result?.checks.find(({ holds }) => !holds)?.what ?? "", reasons.join("\n")]
      : ["error", error ?? "The attempt did not start, or did not finish.", ""];
  const problem = `      <${tag} message="${xml(message)}">${xml(body)}</${tag}>\n`;
  const inner = [...(status === "passed" ? [] : [problem]), ...kept];
  return inner.length === 0 ? `${head}/>\n` : `${head}>\n${inner.join("")}    </testcase>\n`;
}

/** Makes characters visible that XML cannot hold. */
function xml(text: string): string {
  return visibleText(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("\n", "&#10;");
}
