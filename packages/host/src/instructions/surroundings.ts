import { existsSync, lstatSync, readFileSync } from "node:fs";
import { arch, release, type } from "node:os";
import { join, resolve } from "node:path";
import { visibleLine } from "@banyan/core/shown";
import { commandShell } from "@banyan/tools/workspace";
import { projectOf } from "../project.ts";
import type { InstructionPart } from "./instructions.ts";

/** Bytes of a file that says where a branch is. */
const MOST = 4_096;

/** Letters of the name of a branch. */
const LONGEST = 100;

/** The label of a conversation under which stands what was so when it began. */
export const BEGAN = "began";

/**
 * What a model cannot see and works better with (C11): the date, the system and its shell, and on which branch the repository
 * around the workspace is. Said once, when a conversation begins, and kept as its label, so that the beginning of its requests
 * never changes. What cannot be said is left out.
 */
export function surroundings(workspace: string): string {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "full" }).format(new Date());
  const { root } = projectOf(workspace);
  const isRepository = existsSync(join(root, ".git"));
  const state = isRepository ? branchIn(root) : "the workspace is not in a repository";
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

/**
 * On which branch the repository is, by its own file: git itself would obey what a repository names, and runs in the sandbox
 * alone (S16). Nothing when that is not to be read.
 */
function branchIn(root: string): string | undefined {
  const head = headOf(root);
  const branch = branchOf(head);
  if (branch !== undefined) return `branch ${branch}`;
  return head !== undefined && /^[0-9a-f]{40,64}$/.test(head) ? "no branch (detached HEAD)" : undefined;
}

/** The branch of the repository around a folder, found without git; nothing where there is none. */
export function gitBranch(workspace: string): string | undefined {
  return branchOf(headOf(projectOf(workspace).root));
}

function headOf(root: string): string | undefined {
  return firstOf(join(root, ".git", "HEAD")) ?? headOfWorktree(root);
}

function branchOf(head = ""): string | undefined {
  const [, branch] = /^ref: refs\/heads\/(.+)$/.exec(head) ?? [];
  // Whoever made the repository gave it the name.
  return branch && visibleLine(branch).slice(0, LONGEST);
}

/** A worktree names the folder of its HEAD in a file. */
function headOfWorktree(root: string): string | undefined {
  const [, folder] = /^gitdir: (.+)$/.exec(firstOf(join(root, ".git")) ?? "") ?? [];
  return folder === undefined ? undefined : firstOf(resolve(root, folder, "HEAD"));
}

/** The first line of a small file; nothing of what is none, such as a pipe that nobody writes to. */
function firstOf(file: string): string | undefined {
  try {
    const found = lstatSync(file);
    if (!found.isFile() || found.size > MOST) return undefined;
    return readFileSync(file, "utf8").split("\n")[0]?.trim();
  } catch {
    return undefined;
  }
}
