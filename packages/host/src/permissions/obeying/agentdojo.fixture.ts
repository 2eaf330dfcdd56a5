import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Injection } from "./obeying.fixture.ts";

/** A suite of AgentDojo: an assistant with tools, and texts that try to inject instructions. */
export interface Suite {
  readonly name: string;
  readonly injections: readonly Injection[];
  /** The tools that each user task takes. */
  readonly errands: readonly (readonly string[])[];
}

const AGENTDOJO = "agentdojo==0.1.35";
/** The dependencies of the package that its tasks need. */
const NEEDED = ["pydantic[email]", "docstring-parser", "deepdiff", "pyyaml", "typing-extensions"];
const FOLDER = join(tmpdir(), `banyan-${AGENTDOJO.replace("==", "-")}`);
const TASKS = join(import.meta.dirname, "agentdojo.fixture.py");

/**
 * Reads the suites from the package, which is installed once into the temporary folder. Returns the reason if that fails. This
 * repository contains none of its texts.
 */
export function agentDojo(version: string): readonly Suite[] | string {
  const python = join(FOLDER, "bin", "python");
  const installed = join(FOLDER, "installed");
  try {
    if (!existsSync(installed)) {
      execFileSync("python3", ["-m", "venv", "--clear", FOLDER], { stdio: "pipe" });
      const install = (...packages: readonly string[]) =>
        execFileSync(python, ["-m", "pip", "install", "--quiet", ...packages], { stdio: "pipe" });
      install("--no-deps", AGENTDOJO);
      install(...NEEDED);
      writeFileSync(installed, "");
    }
  } catch (error) {
    return `AgentDojo cannot be installed: ${(error as Error).message.slice(0, 500)}`;
  }
  const told = execFileSync(python, [TASKS, version], {
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "pipe"],
  });
  return JSON.parse(told.toString()) as Suite[];
}
