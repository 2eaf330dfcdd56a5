import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { GoalFinding } from "@banyan/core/hosts";
import type { LanguageServers, WorkspaceProblems } from "@banyan/tools/language-servers";
import type { Workspace } from "@banyan/tools/workspace";

/** A condition of a goal: language servers find no problem that was not there when the goal began. */
export interface NoNewProblems {
  readonly newProblems: "none";
}

/** Language servers that start anew, and the folder that they check. */
export interface FreshServers extends AsyncDisposable {
  readonly servers: LanguageServers;
  readonly workspace: Workspace;
}

/** The problems of a folder when a goal began, and whether there are others now. `file` has the first problems. */
export class FirstProblems {
  readonly #file: string;
  readonly #open: (directory: string) => Promise<FreshServers>;

  constructor(file: string, open: (directory: string) => Promise<FreshServers>) {
    this.#file = file;
    this.#open = open;
  }

  /** Stores the problems. Rejects if no language server can check the folder. */
  async keep(directory: string, signal: AbortSignal): Promise<void> {
    const problems = await this.#problemsIn(directory, signal);
    await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 });
    await writeFile(this.#file, JSON.stringify(problems), { mode: 0o600 });
  }

  /** Returns whether there are no new problems. Fresh servers see the present files and configurations. */
  async finding(directory: string, signal: AbortSignal): Promise<GoalFinding> {
    const text = await readFile(this.#file, "utf8").catch(() => undefined);
    if (text === undefined)
      return { passed: false, why: "Banyan does not know the problems at the beginning of the goal." };
    const before = JSON.parse(text) as WorkspaceProblems;
    const { newProblemLines } = await import("@banyan/tools/language-servers");
    const lines = newProblemLines(before, await this.#problemsIn(directory, signal, before));
    return lines.length === 0 ? { passed: true } : { passed: false, why: lines.join("\n") };
  }

  async #problemsIn(directory: string, signal: AbortSignal, before?: WorkspaceProblems): Promise<WorkspaceProblems> {
    const { workspaceProblems } = await import("@banyan/tools/language-servers");
    await using fresh = await this.#open(directory);
    return workspaceProblems(fresh.workspace, fresh.servers, signal, before);
  }
}
