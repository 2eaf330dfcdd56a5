import { execFile } from "node:child_process";
import { arch, release, type } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { visibleLine } from "@banyan/core/shown";
import type { Environment } from "@banyan/models";
import { commandShell } from "@banyan/tools/workspace";
import { projectOf } from "../project.ts";
import { readFileStart } from "../read-file.ts";
import type { InstructionPart } from "./instructions.ts";

/** Milliseconds that git may take to say how the workspace stands: the first message of a conversation waits for it. */
const PATIENCE = 1_000;

/** Letters of the name of a branch. */
const LONGEST = 100;

/** The label of a conversation under which stands what was so when it began. */
export const BEGAN = "began";

/**
 * What a model cannot see and works better with (C11): the date, the system and its shell, and how the repository around
 * the workspace stands. Said once, when a conversation begins, and kept as its label, so that the beginning of its requests
 * never changes. git is asked only where the project is trusted, since it obeys settings that lie in the project; elsewhere
 * the branch alone is read. Never rejects: what cannot be said is left out.
 */
export async function surroundings(
  workspace: string,
  { env, isTrusted }: { readonly env: Environment; readonly isTrusted: boolean },
): Promise<string> {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "full" }).format(new Date());
  const git = (isTrusted ? await statusOf(workspace, env) : undefined) ?? branchOf(workspace);
  return [
    `Date: ${day} (${timeZone})`,
    `System: ${type()} ${release()} (${arch()}); commands run in ${commandShell()}`,
    `Git: ${git ?? "the workspace is not in a repository"}`,
  ].join("\n");
}

/** The same as a part of what an agent is told, with the model that it is; nothing in a conversation that has it not. */
export function surroundingsPart(began: string | undefined, model: string): InstructionPart[] {
  if (began === undefined) return [];
  const lines = [...began.split("\n"), `Model: you are ${model}`];
  return [{ source: "surroundings", text: lines.map((line) => `- ${line}`).join("\n") }];
}

/** What git says of the repository around a folder, in one line; nothing when it does not say it in time. */
async function statusOf(workspace: string, env: Environment): Promise<string | undefined> {
  const settings = ["core.fsmonitor=false", "safe.bareRepository=explicit"].flatMap((one) => ["-c", one]);
  const args = ["--no-optional-locks", ...settings, "status", "--porcelain=v2", "--branch"];
  try {
    const options = { cwd: workspace, env: { ...env, LC_ALL: "C" }, timeout: PATIENCE, killSignal: "SIGKILL" as const };
    return statusIn((await promisify(execFile)("git", args, options)).stdout);
  } catch {
    // There is no git, no repository, or too much of it.
    return undefined;
  }
}

/** What the lines of `git status --porcelain=v2 --branch` come to. */
function statusIn(output: string): string {
  const lines = output.split("\n").filter((line) => line !== "");
  const said = (name: string) =>
    lines
      .find((line) => line.startsWith(`# branch.${name} `))
      ?.split(" ")
      .slice(2) ?? [];
  const [head = "?"] = said("head");
  const [upstream] = said("upstream");
  const [ahead = "+0", behind = "-0"] = said("ab");
  const files = (begin: RegExp) => lines.filter((line) => begin.test(line)).length;
  const counts = [
    [files(/^[12] /), "changed"],
    [files(/^u /), "in conflict"],
    [files(/^\? /), "new"],
  ] as const;
  const changes = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  return [
    head === "(detached)" ? "no branch (detached HEAD)" : `branch ${nameOf(head)}`,
    ...(upstream === undefined || (ahead === "+0" && behind === "-0")
      ? []
      : [`${ahead.slice(1)} ahead of and ${behind.slice(1)} behind ${nameOf(upstream)}`]),
    changes.length === 0 ? "nothing uncommitted" : `files: ${changes.join(", ")}`,
  ].join("; ");
}

/** The branch of the repository around a folder, as its files say; nothing without one. */
function branchOf(workspace: string): string | undefined {
  const { root } = projectOf(workspace);
  const entry = join(root, ".git");
  const [, elsewhere] = /^gitdir: (.+)$/m.exec(textOf(entry)) ?? [];
  const head = textOf(join(elsewhere === undefined ? entry : resolve(root, elsewhere), "HEAD"));
  if (head === "") return undefined;
  const [, branch] = /^ref: refs\/heads\/(.+)$/m.exec(head) ?? [];
  return branch === undefined ? "no branch (detached HEAD)" : `branch ${nameOf(branch)}`;
}

/** Whoever made the repository gave it the name. */
function nameOf(branch: string): string {
  return visibleLine(branch).slice(0, LONGEST);
}

function textOf(file: string): string {
  const content = readFileStart(file, 4_096);
  return content.state === "read" ? content.bytes.toString("utf8") : "";
}
