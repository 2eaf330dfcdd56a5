import { spawn } from "node:child_process";
import type { Environment } from "../../sandbox/environment.ts";
import { findProgram } from "../../sandbox/find-program.ts";
import { SIGNATURES } from "../files/file-text.ts";
import type { Workspace } from "../files/paths.ts";
import type { Pattern } from "./search-pattern.ts";

/** No settings of the user's, all files that are named, and each that lacks the texts. */
const OPTIONS = ["--no-config", "--no-messages", "--text", "--color=never", "--null", "--files-without-match"];

/** UTF-16 units of paths that one process is given. */
const MOST_AT_ONCE = 200_000;

/** Where `rg` is. Folders of the path that are relative or inside the workspace do not count: what lies there is not trusted. */
export function findRipgrep({ root, alias }: Workspace, environment: Environment): string | undefined {
  return findProgram("rg", environment.PATH ?? "", [root, alias]);
}

/**
 * Leaves out the files of which ripgrep says that they contain none of the texts which every match contains. ripgrep sees no
 * pattern and no ignore file, so that the answer of a search is the same without it. It opens files by their paths, which can be
 * led elsewhere meanwhile: nothing that it saw is told, and each file that stays is opened again in our own way (S21). What is
 * wrong with a file, or with ripgrep, leaves no file out. Throws the signal's reason when the signal aborts.
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

/** One of the texts, or what a file that is not text contains: such a file is not left out, because it is told of. */
function expressionOf(needs: readonly string[]): string {
  const literal = (text: string) => text.replace(/[^A-Za-z0-9\u0100-\u{10ffff}]/gu, (one) => `\\x{${hex(one)}}`);
  const bytes = (text: string) => text.replace(/[^A-Za-z0-9]/g, (one) => `\\x${hex(one)}`);
  // ripgrep looks at single lines.
  const starts = SIGNATURES.map(([start]) => bytes(start.split("\n", 1)[0] ?? "")).join("|");
  return `${needs.map(literal).join("|")}|(?-iu:\\x00|^(?:${starts}))`;
}

function hex(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(2, "0");
}

/** The paths that ripgrep prints. */
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
    // The text behind the last null byte is no whole path.
    return text.split("\0").slice(0, -1);
  } finally {
    kill();
    await ended;
    signal.removeEventListener("abort", kill);
  }
}
