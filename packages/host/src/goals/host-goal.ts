import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Agent, type ConversationState, OptionError, pathTo } from "@banyan/core";
import { type AskedGoal, lastUserMessage } from "@banyan/core/conversation";
import { type Goal, goalOfMessage } from "@banyan/core/hosts";
import type { CaseCheck } from "../checks/case-check.ts";
import type { FreshServers, NoNewProblems } from "../checks/first-problems.ts";
import { goalCopies } from "../checks/first-state.ts";
import type { Host } from "../host/host.ts";
import type { Directories } from "../places/directories.ts";
import { workspaceGoal } from "./workspace-goal.ts";

/** The members of a host that its goals use. */
export interface GoalHost extends Pick<Host, "agent" | "ready" | "redact" | "worktrees"> {
  readonly places?: Pick<Directories, "data"> | undefined;
  readonly workspace: string | undefined;
}

/** Limits of one question to the model that judges a goal in words. */
const JUDGING = { steps: 3, tokens: 200_000, time: 120_000 };

/**
 * Returns the goal that a user wrote: `!command`, or words. The words "tests pass" stand for the project's own test
 * command, and "no new problems" for a check by language servers. The model of the agent judges other words. Throws `OptionError` if the goal cannot be checked.
 */
export function goalOfUser(host: GoalHost, wanted: readonly string[], agent: Agent = host.agent): Goal {
  const { workspace, places } = host;
  if (workspace === undefined || !places)
    throw new OptionError("This agent has no folder, so no goal can be checked. Send the message without a goal.");
  const { unattended = false, model } = agent.options;
  return workspaceGoal({
    checks: wanted.map((text) => readGoal(text, workspace)),
    asked: [...wanted],
    directory: ({ conversation, leaf }) => host.worktrees.folderAt(conversation, leaf),
    copies: goalCopies(places),
    unattended,
    sandbox: async (directory) => (await host.ready()).confinesIn(directory),
    redact: host.redact,
    languageServers: (directory) => freshServers(host, directory),
    judge: { model, limits: JUDGING },
  });
}

/** Opens language servers for a folder. Rejects if they may not run. */
async function freshServers(host: GoalHost, directory: string): Promise<FreshServers> {
  const { checks, confinesIn } = await host.ready();
  const sandbox = await confinesIn(directory);
  const fresh = sandbox && (await checks?.freshServers(directory, sandbox));
  if (!fresh)
    throw new Error(
      "Language servers run only in a trusted folder and in a sandbox, and if the settings do not switch them off.",
    );
  return fresh;
}

/** Returns the goal of the unfinished turn on the path to `at`, in the form for `goalOfUser`; nothing if none. */
export function unfinishedGoal(state: ConversationState, at = state.leaf): readonly string[] | undefined {
  const path = pathTo(state, at);
  const ids = new Set(path.map(({ id }) => id));
  const waits = state.waiting.values().find(({ call, leaf }) => call === undefined && ids.has(leaf ?? ""));
  return writtenGoal(waits?.goal ?? state.broken.get(path.at(-1)?.id ?? "")?.goal);
}

/** Returns the goal of the turn that answered the last message of a user on the path to `at`, as `goalOfUser` takes it. */
export function goalToRetry(state: ConversationState, at = state.leaf): readonly string[] | undefined {
  const message = lastUserMessage(pathTo(state, at));
  return message && writtenGoal(goalOfMessage(state, message.id));
}

/** Returns the goal of a run as a user wrote it. */
export function writtenGoal({ asked }: Partial<AskedGoal> = {}): readonly string[] | undefined {
  if (!Array.isArray(asked)) return undefined;
  return asked.filter((text) => typeof text === "string");
}

const NO_NEW_PROBLEMS = /^(?:there are )?no new (?:problems|errors|diagnostics)\.?$/i;
const TESTS_PASS = /^(?:all |the |all the )?tests?(?: suite)? (?:pass(?:es)?|succeeds?|(?:is|are) green)\.?$/i;

function readGoal(written: string, workspace: string): CaseCheck | NoNewProblems {
  const text = written.trim();
  if (text.startsWith("!") && text.slice(1).trim() !== "") return { command: text.slice(1).trim() };
  if (text === "" || text === "!")
    throw new OptionError("A goal is empty. Write a command such as !npm test, or a condition in words.");
  if (NO_NEW_PROBLEMS.test(text)) return { newProblems: "none" };
  if (!TESTS_PASS.test(text)) return { judge: text };
  const command = testCommandIn(workspace);
  if (command !== undefined) return { command };
  throw new OptionError(`No test command was found in ${workspace}. Write the command as the goal, such as !npm test.`);
}

/** The test command of a project, by the file that shows its tools. */
const TEST_COMMANDS: readonly (readonly [file: string, command: string, content?: RegExp])[] = [
  ["pnpm-lock.yaml", "pnpm test"],
  ["yarn.lock", "yarn test"],
  ["bun.lock", "bun run test"],
  ["package.json", "npm test", /"test"\s*:/],
  ["Cargo.toml", "cargo test"],
  ["go.mod", "go test ./..."],
  ["deno.json", "deno test"],
  ["tox.ini", "tox"],
  ["pytest.ini", "python3 -m pytest"],
  ["pyproject.toml", "python3 -m pytest", /pytest/],
  ["mix.exs", "mix test"],
  ["gradlew", "./gradlew test"],
  ["pom.xml", "mvn test"],
  ["Rakefile", "rake test"],
  ["Makefile", "make test", /^test\s*:/m],
];

/** Returns the command that runs the tests of a project, if the project's files reveal the command. */
export function testCommandIn(workspace: string): string | undefined {
  return TEST_COMMANDS.find(([file, , content = /(?:)/]) => {
    try {
      return content.test(readFileSync(join(workspace, file), "utf8"));
    } catch {
      // Without the file, the next row may fit.
      return false;
    }
  })?.[1];
}
