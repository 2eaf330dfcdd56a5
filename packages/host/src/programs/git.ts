import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Environment } from "@banyan/models";
import type { Sandbox } from "@banyan/tools/sandbox";

/** How git is asked. */
export interface GitOptions {
  /** The folder, in a repository. */
  readonly cwd: string;
  /** Where git runs; outside of one for `undefined`, when it has to write where no command may. */
  readonly sandbox: Pick<Sandbox, "wrap"> | undefined;
  /** The person's variables. */
  readonly env: Environment;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds. */
  readonly timeout: number;
  /** Bytes of output; more is a failure. 1 MiB when absent. */
  readonly most?: number | undefined;
  /** What it reads; nothing when absent. */
  readonly input?: string | undefined;
  /** The encoding of its input and output; UTF-8 when absent. `latin1` keeps names of files that are not valid text. */
  readonly encoding?: "latin1" | undefined;
  /** The command looks at no content of files in a work tree: no filter can run, and none needs to be looked for. */
  readonly withoutContent?: boolean | undefined;
  /** Variables beside ours, such as another index. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
}

/** Settings of a repository that run programs, or reach out. What its filters run is found out first. */
const QUIET = [
  ...["core.fsmonitor=false", "core.hooksPath=/dev/null", "log.showSignature=false", "protocol.allow=never"],
  "submodule.recurse=false",
];

/** Never ours to take, nor to write, while a person works there. */
const VARIABLES = { GIT_OPTIONAL_LOCKS: "0", GIT_NO_LAZY_FETCH: "1", GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" };

/**
 * What git says of a repository that anybody may have made, or does in it. It runs in the sandbox, as a command does (S16), but
 * where it makes and removes worktrees; there too nothing in the repository that names a program is obeyed, such as a filter, a
 * hook or a monitor of its files, and nothing is fetched. `args` must not begin submodules, pagers or programs of their own
 * (`--no-ext-diff`). Rejects when git fails, is not there, takes too long or says too much.
 */
export async function git(args: readonly string[], options: GitOptions): Promise<string> {
  const settings = ["config", "--null", "--name-only", "--get-regexp", "^filter\\."];
  const found = options.withoutContent ? "" : await ask(settings, { ...options, input: "" }).catch(() => "");
  const filters = new Set(found.split("\0").flatMap((key) => /^(filter\..+)\.[^.]+$/s.exec(key)?.[1] ?? []));
  const unfiltered = [...filters].flatMap((name) =>
    ["clean=", "smudge=", "process=", "required=false"].map((setting) => `${name}.${setting}`),
  );
  return ask([...[...QUIET, ...unfiltered].flatMap((one) => ["-c", one]), ...args], options);
}

async function ask(
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
    ...{ cwd, timeout, env: { ...program.environment }, killSignal: "SIGKILL" },
    ...(signal && { signal }),
    ...(most !== undefined && { maxBuffer: most }),
    ...(encoding && { encoding }),
  });
  // One that has ended by then says why by its exit.
  running.child.stdin?.on("error", () => {}).end(input ?? "", encoding ?? "utf8");
  return (await running).stdout;
}
