import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { EnvironmentVariables } from "@banyan/models";
import type { Sandbox } from "@banyan/tools/sandbox";

/** Options of `git`. */
export interface GitOptions {
  /** The folder in which git runs, inside a repository. */
  readonly cwd: string;
  /** The sandbox of git. `undefined` runs git outside, to write where commands must not. */
  readonly sandbox: Pick<Sandbox, "wrap"> | undefined;
  readonly env: EnvironmentVariables;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds. */
  readonly timeout: number;
  /** Maximum bytes of output; more is an error. Default: 1 MiB. */
  readonly most?: number | undefined;
  readonly input?: string | undefined;
  /** Encoding of input and output. Default: UTF-8. `latin1` preserves file names that are not valid text. */
  readonly encoding?: "latin1" | undefined;
  /** True if the command reads no file content of a work tree, so that no filter can run. */
  readonly withoutContent?: boolean | undefined;
  /** Additional variables, such as another index. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
}

/** Disables repository settings that run programs or use the network. */
const QUIET = [
  ...["core.fsmonitor=false", "core.hooksPath=/dev/null", "log.showSignature=false", "protocol.allow=never"],
  "submodule.recurse=false",
];

/** Git must take no optional locks while the user works there, fetch nothing, and never prompt. */
const VARIABLES = { GIT_OPTIONAL_LOCKS: "0", GIT_NO_LAZY_FETCH: "1", GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" };

/**
 * Runs git on an untrusted repository, in the same sandbox as commands (S16). Programs that the repository names, such
 * as filters and hooks, never run, and nothing is fetched. `args` must not start submodules, pagers or external
 * programs (`--no-ext-diff`). Rejects if git fails, is missing, times out or writes too much.
 */
export async function git(args: readonly string[], options: GitOptions): Promise<string> {
  const settings = ["config", "--null", "--name-only", "--get-regexp", "^filter\\."];
  const found = options.withoutContent ? "" : await runGit(settings, { ...options, input: "" }).catch(() => "");
  const filters = new Set(found.split("\0").flatMap((key) => /^(filter\..+)\.[^.]+$/s.exec(key)?.[1] ?? []));
  const unfiltered = [...filters].flatMap((name) =>
    ["clean=", "smudge=", "process=", "required=false"].map((setting) => `${name}.${setting}`),
  );
  return runGit([...[...QUIET, ...unfiltered].flatMap((one) => ["-c", one]), ...args], options);
}

async function runGit(
  args: readonly string[],
  { cwd, sandbox, env, signal, timeout, most, input, encoding, variables }: GitOptions,
): Promise<string> {
  const { PATH = "", HOME = "" } = env;
  const plain = {
    file: "git",
    args: ["-c", "safe.bareRepository=explicit", ...args],
    environment: { PATH, HOME, ...VARIABLES, ...variables },
  };
  using sandboxed = await sandbox?.wrap(plain);
  const program = sandboxed ?? plain;
  signal?.throwIfAborted();
  const running = promisify(execFile)(program.file, [...program.args], {
    cwd,
    timeout,
    env: { ...program.environment },
    killSignal: "SIGKILL",
    ...(signal && { signal }),
    ...(most !== undefined && { maxBuffer: most }),
    ...(encoding && { encoding }),
  });
  // If git ended early, its exit code reports why.
  running.child.stdin?.on("error", () => {}).end(input ?? "", encoding ?? "utf8");
  return (await running).stdout;
}
