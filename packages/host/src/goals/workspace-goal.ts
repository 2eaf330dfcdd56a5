import { type AgentOptions, createId, type Json, type Limits, Session } from "@banyan/core";
import {
  lastUserMessage,
  type Message,
  type OptionNames,
  pathTo,
  refuseUnknown,
  typedText,
} from "@banyan/core/conversation";
import type { Goal, GoalCheck, GoalFinding, GoalMoment } from "@banyan/core/hosts";
import type { Sandbox } from "@banyan/tools/sandbox";
import { type CaseCheck, describeCheck } from "../checks/case-check.ts";
import { FirstProblems, type FreshServers, type NoNewProblems } from "../checks/first-problems.ts";
import { FirstState, type StateChanges } from "../checks/first-state.ts";
import type { Redact } from "../redaction/redactor.ts";

/**
 * Options of `workspaceGoal`.
 * @example
 * const goal = workspaceGoal({
 *   checks: [{ command: "npm test", seconds: 300 }, { file: "CHANGES.md", contains: "1.2" }, { judge: "The text is polite." }],
 *   directory: "/work/project",
 *   copies: "/work/goals",
 *   unattended: true,
 *   judge: { model, limits: { cost: 0.1 } },
 *   failures: 3,
 * });
 */
export interface WorkspaceGoalOptions {
  /**
   * The conditions. Checks by a judge run last, and only if all others pass. `{ newProblems: "none" }`: language servers
   * find no problem that was not there when the goal began.
   */
  readonly checks: readonly (CaseCheck | NoNewProblems)[];
  /** The folder in which commands run, or a function that returns the folder of a branch. */
  readonly directory: string | ((at: GoalMoment) => Promise<string>);
  /** A folder for copies of tests and configurations. Commands and tools of the agent must not reach the folder. */
  readonly copies: string;
  /**
   * True if no user sees which tests were changed. The commands are then run again with the earlier content of these
   * files.
   */
  readonly unattended?: boolean | undefined;
  /** The sandbox for commands. Default: commands run with the rights of the program. */
  readonly sandbox?: Sandbox | undefined | ((directory: string) => Promise<Sandbox | undefined>);
  /** Removes secrets from outputs. Default: outputs stay as they are. */
  readonly redact?: Redact | undefined;
  /** Opens language servers for a folder. They start anew for each check of `newProblems`. */
  readonly languageServers?: ((directory: string) => Promise<FreshServers>) | undefined;
  /** The model for checks by a judge, and the limits of each question to it. */
  readonly judge?: { readonly model: AgentOptions["model"]; readonly limits?: Limits | undefined } | undefined;
  /** See `Goal`. */
  readonly failures?: number | undefined;
  /** See `Goal`. */
  readonly asked?: Json | undefined;
}

const OPTIONS: OptionNames<WorkspaceGoalOptions> = {
  checks: "list!",
  directory: true,
  copies: "string!",
  unattended: "boolean",
  sandbox: true,
  redact: "function",
  languageServers: "function",
  judge: "object",
  failures: "number",
  asked: true,
};

/**
 * Returns a goal for an agent that works in a folder. The checks are the same as those of an evaluation. The result of
 * its last check lists tests, configurations of runners, scripts and lock files that have changed since the goal began.
 * @example
 * const goal = workspaceGoal({ checks: [{ command: "npm test" }], directory: ".", copies: "/var/goals", unattended: true });
 * const turn = await new Agent({ model, tools: workspaceTools({ root: "." }), goal }).send("Mend the parser.");
 */
export function workspaceGoal(options: WorkspaceGoalOptions): Goal {
  refuseUnknown("workspaceGoal", options, OPTIONS);
  const { checks, failures, asked } = options;
  const isProblems = (check: CaseCheck | NoNewProblems): check is NoNewProblems => "newProblems" in check;
  const ofCases = checks.filter((check): check is CaseCheck => !isProblems(check));
  const plain = ofCases.filter(({ judge }) => judge === undefined);
  const judged = ofCases.filter(({ judge }) => judge !== undefined);
  const problems = checks.some(isProblems) ? problemsCheck(options) : undefined;
  const repeated = [
    ...plain.filter(({ command }) => command !== undefined).map((check) => plainCheck(check, options)),
    ...(problems ? [problems] : []),
  ];
  const commands = plain.flatMap(({ command = [] }) => command);
  return {
    checks: [
      ...plain.map((check) => plainCheck(check, options)),
      ...(problems ? [problems] : []),
      ...(repeated.length > 0 ? [firstStateCheck(repeated, commands, options, judged.length === 0)] : []),
      ...judged.map((check) => judgedCheck(check, options)),
    ],
    ...(failures !== undefined && { failures }),
    ...(asked !== undefined && { asked }),
  };
}

/** Returns the check that language servers find no new problems. */
function problemsCheck(options: WorkspaceGoalOptions): GoalCheck {
  const first = ({ goal }: GoalMoment) =>
    new FirstProblems(`${options.copies}/${goal}.problems.json`, (directory) => {
      if (!options.languageServers) throw new Error("No language servers are set to find problems.");
      return options.languageServers(directory);
    });
  return {
    what: "language servers find no new problems",
    begin: async (at) => first(at).keep(await directoryAt(at, options), at.signal),
    run: async (at) => first(at).finding(await directoryAt(at, options), at.signal),
  };
}

function plainCheck(check: CaseCheck, options: WorkspaceGoalOptions): GoalCheck {
  return { what: describeCheck(check), run: (at) => findingOf(check, at, options) };
}

async function findingOf(check: CaseCheck, at: GoalMoment, options: WorkspaceGoalOptions): Promise<GoalFinding> {
  const { runCheck } = await import("../checks/check.ts");
  const directory = await directoryAt(at, options);
  const { sandbox, redact } = options;
  const { holds, why } = await runCheck(
    { seconds: PATIENCE, ...check },
    {
      case: NO_FILES,
      directory,
      answer:
        at.result === undefined ? at.answer : typeof at.result === "string" ? at.result : JSON.stringify(at.result),
      sandbox: typeof sandbox === "function" ? await sandbox(directory) : sandbox,
      redact,
      told: TOLD,
      signal: at.signal,
    },
  );
  return { passed: holds, ...(why !== undefined && { why }) };
}

/** Seconds for a command without its own bound. */
const PATIENCE = 900;

/** Characters of a command's output for the model. */
const TOLD = 8_000;

/** The goal itself restores files. */
const NO_FILES = { files: {} };

const AS_BEFORE = "the checks also pass with tests, configurations, scripts and lock files as they were";
const UNKNOWN = "Banyan does not know the tests and configurations as they were when the goal began.";

/**
 * Returns the check that repeats checks with the files that decide about tests in their first state. `commands`: the
 * commands of these checks. `isLast`: no check follows, so that the goal ends with this check if it passes.
 */
function firstStateCheck(
  repeated: readonly GoalCheck[],
  commands: readonly string[],
  options: WorkspaceGoalOptions,
  isLast: boolean,
): GoalCheck {
  const firstState = (goal: string) => new FirstState(`${options.copies}/${goal}`, commands);
  const { unattended = false } = options;
  return {
    what: AS_BEFORE,
    last: true,
    begin: async (at) => firstState(at.goal).keep(await directoryAt(at, options)),
    async run(at) {
      const first = firstState(at.goal);
      const directory = await directoryAt(at, options);
      const state = await first.changes(directory);
      if (!state) return { passed: !unattended, why: UNKNOWN };
      const { changed, uncopied } = state;
      const why = await whyNotAsBefore(first, state, { repeated, at, directory });
      const passed = !(unattended && why !== undefined);
      if (passed && isLast) await first.release();
      const note = why ?? (uncopied.length > 0 ? `${uncopiedText(uncopied)}, and did not change since.` : undefined);
      return { passed, ...(changed.length > 0 && { changed }), ...(note !== undefined && { why: note }) };
    },
  };
}

/** Returns why the checks would not pass in the first state of the workspace; nothing if they pass. */
async function whyNotAsBefore(
  first: FirstState,
  { changed, uncopied }: StateChanges,
  {
    repeated,
    at,
    directory,
  }: { readonly repeated: readonly GoalCheck[]; readonly at: GoalMoment; readonly directory: string },
): Promise<string | undefined> {
  if (changed.length === 0) return undefined;
  const lost = changed.filter((path) => uncopied.includes(path));
  if (lost.length > 0) return `${uncopiedText(lost)}, and changed since. Their first content is not known.`;
  const why = await first.during(directory, changed, async () => {
    for (const { what, run } of repeated) {
      const { passed, why: reason = "it did not pass" } = await run(at);
      if (!passed) return `${what}: ${reason}`;
    }
    return undefined;
  });
  return why && `With the earlier content of ${changed.join(", ")}, a check did not pass: ${why}`;
}

function uncopiedText(paths: readonly string[]): string {
  return `These files could not be copied when the goal began: ${paths.join(", ")}`;
}

function judgedCheck(check: CaseCheck, options: WorkspaceGoalOptions): GoalCheck {
  return {
    what: describeCheck(check),
    last: true,
    async run(at) {
      if (!options.judge) return { passed: false, why: "No model is set to judge this condition." };
      const { model, limits } = options.judge;
      const { askJudge } = await import("../checks/judge.ts");
      const path = pathTo(at.conversation, at.leaf);
      const asked = lastUserMessage(path);
      const files = check.files ?? filesChangedIn(path);
      await using session = Session.inMemory();
      const { checked, spent } = await askJudge(
        { ...check, files: [...files] },
        {
          session,
          judge: model,
          allowance: undefined,
          limits,
          id: createId(),
          title: "judge",
          said: asked ? [typedText(asked)] : [],
          answer: at.answer,
          directory: await directoryAt(at, options),
          redact: options.redact,
          signal: at.signal,
        },
      );
      const id = "id" in model ? model.id : model.modelId;
      await at.count(id, spent.usage, spent.cost);
      return { passed: checked.holds, ...(checked.why !== undefined && { why: checked.why }) };
    },
  };
}

/** Maximum number of changed files that a judge sees. */
const FILES_JUDGED = 20;

/** Returns the last files that the calls of a path changed. */
function filesChangedIn(path: readonly Message[]): readonly string[] {
  const calls = path.flatMap((message) => (message.role === "assistant" ? message.calls : []));
  const paths = calls.flatMap(({ changes = [] }) => changes.map((change) => change.path));
  return [...new Set(paths)].slice(-FILES_JUDGED);
}

async function directoryAt(at: GoalMoment, { directory }: WorkspaceGoalOptions): Promise<string> {
  return typeof directory === "string" ? directory : directory(at);
}
