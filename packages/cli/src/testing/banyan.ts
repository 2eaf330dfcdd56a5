import { type ChildProcessByStdio, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { lineSchema } from "../output/schema.ts";

/** The program: the bundle of this test run, or its sources. */
export const MAIN = process.env.BANYAN_TEST_PROGRAM ?? fileURLToPath(new URL("../main.ts", import.meta.url));

/** Result of a run of the command. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Home extends Disposable {
  /** A workspace, empty at first. */
  readonly workspace: string;
  /** Environment that keeps a run away from this machine's settings, keys, conversations and servers. */
  readonly env: NodeJS.ProcessEnv;
  /** Program to run here. Default: the program under test. */
  readonly main?: string;
}

/** Creates a home and a workspace for runs of the command. */
export function home(): Home {
  const directory = mkdtempSync(join(tmpdir(), "banyan-cli-"));
  const workspace = mkdtempSync(join(directory, "workspace-"));
  const { PATH, TMPDIR, NODE_COMPILE_CACHE } = process.env;
  // Skip the welcome of a first start, which has its own test.
  mkdirSync(join(directory, "home", "state"), { recursive: true });
  for (const said of ["welcomed", "memory-offered"]) writeFileSync(join(directory, "home", "state", said), "");
  const env = {
    PATH,
    TMPDIR,
    NODE_COMPILE_CACHE,
    HOME: directory,
    BANYAN_HOME: join(directory, "home"),
    BANYAN_NO_DISCOVERY: "1",
    // Allows mode `all` without a sandbox. The refusal has its own test.
    BANYAN_UNCONFINED: "on",
    // The sandbox process takes a third of a start. Its own tests cover it, as do tests that set "auto".
    BANYAN_SANDBOX: "off",
    TERM: "xterm",
  };
  return {
    workspace,
    env,
    [Symbol.dispose]() {
      // Ended processes may still be writing.
      rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** User id of the process. */
  readonly uid?: number | undefined;
  /** Content of standard input, which then ends. Default: empty. */
  readonly input?: string | Buffer;
}

export type Running = ChildProcessByStdio<Writable, Readable, Readable>;

/** Starts the command with pipes for all three streams. */
export function start(
  home: Home,
  args: readonly string[],
  { env = {}, cwd = home.workspace, uid }: RunOptions = {},
): Running {
  return spawn(process.execPath, [home.main ?? MAIN, ...args], {
    cwd,
    uid,
    env: { ...home.env, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
}

/** Runs the command to its end. */
export async function banyan(home: Home, args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const running = start(home, args, options);
  running.stdin.on("error", () => {
    // The command may refuse its input before it has read everything.
  });
  running.stdin.end(options.input);
  return ended(running);
}

export async function ended(running: Running): Promise<Ended> {
  const [stdout, stderr, code] = await Promise.all([
    textOf(running.stdout),
    textOf(running.stderr),
    new Promise<number | null>((resolve) => running.on("close", resolve)),
  ]);
  return { code, stdout, stderr };
}

async function textOf(stream: Readable): Promise<string> {
  let text = "";
  for await (const chunk of stream.setEncoding("utf8")) text += chunk;
  return text;
}

/** The lines of `--output jsonl`, validated by the published schema. Throws for an invalid line. */
export function linesOf(stdout: string): ReturnType<typeof lineSchema.parse>[] {
  return stdout
    .trimEnd()
    .split("\n")
    .map((text) => {
      const line = JSON.parse(text);
      const known = lineSchema.parse(line);
      // Parsing drops properties that are not in the schema.
      if (JSON.stringify(sorted(known)) !== JSON.stringify(sorted(line)))
        throw new Error(`The schema does not know all of ${text}`);
      return known;
    });
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).sort(([a], [b]) => a.localeCompare(b));
  return Object.fromEntries(entries.map(([name, inner]) => [name, sorted(inner)]));
}
