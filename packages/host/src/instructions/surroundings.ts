import { existsSync } from "node:fs";
import { arch, release, type } from "node:os";
import { join } from "node:path";
import { visibleLine } from "@banyan/core/shown";
import type { Environment } from "@banyan/models";
import { commandShell } from "@banyan/tools/workspace";
import { git } from "../git.ts";
import { projectOf } from "../project.ts";
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
 * never changes. Never rejects: what cannot be said is left out.
 */
export async function surroundings(workspace: string, env: Environment): Promise<string> {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "full" }).format(new Date());
  const isRepository = existsSync(join(projectOf(workspace).root, ".git"));
  const state = isRepository ? await repository(workspace, env) : "the workspace is not in a repository";
  return [
    `Date: ${day} (${timeZone})`,
    `System: ${type()} ${release()} (${arch()}); commands run in ${commandShell()}`,
    ...(state === undefined ? [] : [`Git: ${state}`]),
  ].join("\n");
}

/** The same as a part of what an agent is told, with the model that it is; nothing in a conversation that has it not. */
export function surroundingsPart(began: string | undefined, model: string): InstructionPart[] {
  if (began === undefined) return [];
  const lines = [...began.split("\n"), `Model: you are ${model}`];
  return [{ source: "surroundings", text: lines.map((line) => `- ${line}`).join("\n") }];
}

/** What git says of the repository around a folder, in one line; nothing when it does not say it in time. */
async function repository(workspace: string, env: Environment): Promise<string | undefined> {
  const args = ["status", "--porcelain=v2", "--branch", "--ignore-submodules=dirty"];
  try {
    return statusIn(await git(args, { cwd: workspace, env, timeout: PATIENCE }));
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

/** Whoever made the repository gave it the name. */
function nameOf(branch: string): string {
  return visibleLine(branch).slice(0, LONGEST);
}
