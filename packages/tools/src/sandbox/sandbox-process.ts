import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  getDefaultWritePaths,
  SandboxManager,
  type SandboxRuntimeConfig,
  SandboxRuntimeConfigSchema,
} from "@anthropic-ai/sandbox-runtime";
import type { FromProcess, SandboxPlan, ToProcess } from "./messages.ts";
import { INSIDE, shellWords, WORDS } from "./program.ts";
import { protectedPlaces } from "./protected-places.ts";

/*
 * The process of one sandbox. The runtime keeps one configuration, its proxies and its list of mount points for a whole
 * process, listens to the process's signals, and protects files of its working directory by making empty ones there for
 * as long as a command runs. Here it has a process of its own for all that, in an empty folder; and when the program
 * ends, however it ends, this process notices, takes the proxies down and cleans up.
 */

const base = mkdtempSync(join(tmpdir(), "banyan-sandbox-"));
const temporary = join(base, "tmp");
const empty = join(base, "empty");
for (const folder of [temporary, empty]) mkdirSync(folder, { mode: 0o700 });
process.chdir(empty);
process.once("exit", () => rmSync(base, { recursive: true, force: true, maxRetries: 3 }));
// For the runtime's sockets, and what it tells commands to use.
process.env.TMPDIR = base;
process.env.CLAUDE_CODE_TMPDIR = temporary;

/** Milliseconds. */
const LONGEST_CLOSING = 5000;
/** How often the shell is looked for: the runtime asks another program for it, which on a busy machine outlasts its second. */
const MOST_LOOKS = 20;

let plan: SandboxPlan | undefined;

function tell(message: FromProcess): void {
  if (process.connected) process.send?.(message);
}

process.on("message", (message: ToProcess) => {
  switch (message.type) {
    case "open":
      void open(message.plan).then(tell);
      return;
    case "wrap":
      void wrap().then(
        (text) => tell({ type: "wrapped", id: message.id, text }),
        (error: unknown) => tell({ type: "failed", id: message.id, message: wordsOf(error) }),
      );
      return;
    case "ended":
      SandboxManager.cleanupAfterCommand();
      return;
    case "close":
      void close();
  }
});
process.once("disconnect", () => void close());

async function open(wanted: SandboxPlan): Promise<FromProcess> {
  const config = configOf(wanted, []);
  const checked = SandboxRuntimeConfigSchema.safeParse(config);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    return { type: "invalid", message: `${issue?.path.join(".")}: ${issue?.message}` };
  }
  try {
    SandboxManager.updateConfig(config);
    const { errors, warnings } = SandboxManager.checkDependencies();
    // It looks for ripgrep in the way in which it looks for a shell, and whoever started us has found it already.
    const missing = errors.filter((error) => !error.startsWith("ripgrep "));
    const lacking = [...missing, ...warnings.filter((warning) => warning.startsWith("seccomp"))];
    if (lacking.length > 0) return { type: "unavailable", reason: lacking.join("; ") };
    // Without a domain no proxy is started, and commands have no network at all.
    if (wanted.domains.length > 0) await SandboxManager.initialize(config);
    plan = wanted;
    await tryOut();
    return { type: "opened", temporary };
  } catch (error) {
    plan = undefined;
    return { type: "unavailable", reason: wordsOf(error) };
  }
}

/** Throws unless a command runs in the sandbox and cannot write where it must not. */
async function tryOut(): Promise<void> {
  const writesOutside = '! (: > "$0") 2>/dev/null || { echo "it could write outside" >&2; exit 1; }';
  const text = await wrap();
  try {
    await promisify(execFile)("/bin/sh", ["-c", `exec ${text}`], {
      env: {
        ...process.env,
        [WORDS]: shellWords({ file: "sh", args: ["-c", writesOutside, join(base, "forbidden")] }),
      },
      timeout: 10_000,
    });
  } finally {
    SandboxManager.cleanupAfterCommand();
  }
}

async function wrap(): Promise<string> {
  if (plan === undefined) throw new Error("The sandbox is not open.");
  const { rg } = plan.programs;
  const found =
    rg === undefined ? [] : (await Promise.all(plan.writable.map((place) => protectedPlaces(place, rg)))).flat();
  const config = configOf(plan, found);
  const command = `${INSIDE}=1; export ${INSIDE}; eval "unset ${WORDS}; exec $${WORDS}"`;
  for (let looks = 1; ; looks++) {
    try {
      return await SandboxManager.wrapWithSandbox(command, "sh", config);
    } catch (error) {
      if (looks === MOST_LOOKS || !wordsOf(error).endsWith("not found in PATH")) throw error;
    }
  }
}

function configOf({ writable, writeDenied, readDenied, domains, programs }: SandboxPlan, found: readonly string[]) {
  // The runtime lets commands write in a few places of its own accord.
  const ofRuntime = getDefaultWritePaths().filter((path) => !path.startsWith("/dev/") && existsSync(path));
  return {
    network: { allowedDomains: [...domains], deniedDomains: [] },
    filesystem: {
      denyRead: readDenied.map(literal),
      allowRead: [literal(base)],
      allowWrite: [...writable, temporary].map(literal),
      denyWrite: [...writeDenied, ...found, ...ofRuntime].map(literal),
    },
    ...(programs.bwrap !== undefined && { bwrapPath: programs.bwrap }),
    ...(programs.socat !== undefined && { socatPath: programs.socat }),
    ...(programs.rg !== undefined && { ripgrep: { command: programs.rg } }),
  } satisfies SandboxRuntimeConfig;
}

/** A name is never taken for a pattern, whatever characters are in it. */
function literal(path: string): { path: string; literal: true } {
  return { path, literal: true };
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Of a command that failed, its message would be all of the command.
  return "stderr" in error ? `a first command failed in it: ${String(error.stderr).trim()}` : error.message;
}

async function close(): Promise<void> {
  // Whether all of it ended or not, nobody needs this process any more.
  setTimeout(() => process.exit(), LONGEST_CLOSING);
  await SandboxManager.reset();
  process.exit();
}
