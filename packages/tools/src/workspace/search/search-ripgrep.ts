import { spawn } from "node:child_process";
import type { ProcessEnvironment } from "../../sandbox/environment.ts";
import { findProgram } from "../../sandbox/find-program.ts";
import { SIGNATURES } from "../files/file-text.ts";
import type { Workspace } from "../files/paths.ts";
import type { Pattern } from "./search-pattern.ts";

/** Ignore the user's settings, search all named files, and print files that lack the texts. */
const OPTIONS = ["--no-config", "--no-messages", "--text", "--color=never", "--null", "--files-without-match"];

const MOST_AT_ONCE = 200_000;

/** Returns the path of `rg`. Folders of `PATH` that are relative or inside the workspace are skipped as untrusted. */
export function findRipgrep({ root, alias }: Workspace, environment: ProcessEnvironment): string | undefined {
  return findProgram("rg", environment.PATH ?? "", [root, alias]);
}

/**
 * Removes the files that cannot match: according to ripgrep, they lack the texts that every match contains. ripgrep
 * gets no pattern and no ignore file, so its presence does not change the result. ripgrep opens files by path, which
 * another process may swap at any time. So its output is never shown, and each remaining file is opened again safely
 * (S21). Errors of ripgrep or of a file remove no file. Throws the signal's reason after an abort.
 */
export async function filesThatMayMatch(
  program: string,
  { root }: Workspace,
  files: readonly string[],
  { needs, ignoresCase }: Pattern,
  environment: Record<string, string>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (needs.length === 0) return files;
  const options = [...OPTIONS, ...(ignoresCase ? ["--ignore-case"] : []), `--regexp=${expressionOf(needs)}`, "--"];
  const without = new Set<string>();
  for (let from = 0, to = 0; from < files.length; from = to) {
    for (let room = MOST_AT_ONCE; room > 0 && to < files.length; to += 1) room -= (files[to] ?? "").length;
    const paths = files.slice(from, to).map((path) => `./${path}`);
    signal.throwIfAborted();
    for (const path of await printed(program, [...options, ...paths], root, environment, signal))
      without.add(path.slice(2));
  }
  return files.filter((path) => !without.has(path));
}

/** Matches one of the texts, or the signature of a binary file. Binary files stay, because the result mentions them. */
function expressionOf(needs: readonly string[]): string {
  const literal = (text: string) => text.replace(/[^A-Za-z0-9\u0100-\u{10ffff}]/gu, (one) => `\\x{${hex(one)}}`);
  const bytes = (text: string) => text.replace(/[^A-Za-z0-9]/g, (one) => `\\x${hex(one)}`);
  const starts = SIGNATURES.map(([start]) => bytes(start.split("\n", 1)[0] ?? "")).join("|");
  return `${needs.map(literal).join("|")}|(?-iu:\\x00|^(?:${starts}))`;
}

function hex(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(2, "0");
}

async function printed(
  program: string,
  options: readonly string[],
  folder: string,
  environment: Record<string, string>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const child = spawn(program, options, { cwd: folder, env: environment, stdio: ["ignore", "pipe", "ignore"] });
  const kill = () => child.kill("SIGKILL");
  signal.addEventListener("abort", kill, { once: true });
  const ended = new Promise<void>((resolve) => {
    child.once("error", () => resolve());
    child.once("close", () => resolve());
  });
  try {
    let text = "";
    child.stdout.setEncoding("utf8");
    for await (const piece of child.stdout) text += piece;
    await ended;
    signal.throwIfAborted();
    return text.split("\0").slice(0, -1);
  } finally {
    kill();
    await ended;
    signal.removeEventListener("abort", kill);
  }
}
