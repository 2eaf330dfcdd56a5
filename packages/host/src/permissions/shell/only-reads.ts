import { harmlessOf, harmlessPattern } from "./harmless.ts";
import { isInert, mayExecuteInput } from "./inert.ts";
import type { ShellPart } from "./part.ts";
import { readShellCommand } from "./script.ts";

/** Harmless commands that change files; `git commit` runs the hooks of the repository. */
const WRITERS: ReadonlySet<string> = new Set(["mkdir", "touch", "git add", "git commit"]);

/** Returns true if a shell command, such as `ls | head` or `git log`, is known to change no file. */
export function onlyReads(command: string): boolean {
  const parts = readShellCommand(command);
  return parts.length > 0 && parts.every(isReader);
}

function isReader(part: ShellPart): boolean {
  if (part.kind === "file") return part.access === "read" || part.path === "/dev/null";
  if (part.kind !== "command" || part.runs !== undefined || part.assignments.length > 0) return false;
  const command = harmlessOf(harmlessPattern(part.words, part.splits) ?? "");
  return command !== undefined && !WRITERS.has(command) && isInert(part) && !mayExecuteInput(part);
}
