import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import {
  getDefaultWritePaths,
  SandboxManager,
  type SandboxRuntimeConfig,
  SandboxRuntimeConfigSchema,
} from "@anthropic-ai/sandbox-runtime";
import { INSIDE, shellWords, WORDS } from "./find-program.ts";
import { commandsEnded, HeldPlaces, removeEnded } from "./held-places.ts";
import { type Holder, makeHolder } from "./holder.ts";
import { writeKeyFilter } from "./kernel-keys.ts";
import type { FromProcess, SandboxPlan, ToProcess } from "./messages.ts";
import { isPlaceholder } from "./placeholder.ts";
import { madeAt, ProtectedLinks } from "./protected-links.ts";
import { isWithin, protectedPlaces } from "./protected-places.ts";
import { obeyedByGit, protectedOfRepository } from "./repository.ts";
import { Submodules } from "./submodules.ts";

/*
 * The process of one sandbox. The runtime keeps one configuration, its proxies and its list of mount points for a whole
 * process, listens to the process's signals, and protects files of its working directory by making empty ones there for
 * as long as a command runs. Here it has a process of its own for all that, in an empty folder; and when the program
 * ends, however it ends, this process notices, takes the proxies down and cleans up.
 */

// Other users have to read which placeholders this sandbox needs.
process.umask(0o022);
const base = mkdtempSync(join(tmpdir(), "banyan-sandbox-"));
const temporary = join(base, "tmp");
const empty = join(base, "empty");
for (const folder of [temporary, empty]) mkdirSync(folder, { mode: 0o700 });
let holder: Holder | undefined;
let held: HeldPlaces | undefined;
const keyFilter = join(base, "keys.bpf");
const hasKeyFilter = writeKeyFilter(keyFilter);
process.chdir(empty);
process.once("exit", () => {
  // Commands that still ran may have left something.
  if (held !== undefined && running > 0) putAside();
  // If a command still runs, the program or the next sandbox removes the placeholders.
  if (holder !== undefined) removeEnded(holder);
  rmSync(base, { recursive: true, force: true, maxRetries: 3 });
});
// For the runtime's sockets, and what it tells commands to use.
process.env.TMPDIR = base;
process.env.CLAUDE_CODE_TMPDIR = temporary;

/** The program of the runtime that every command starts with. */
const HELPER = fileURLToPath(new URL("vendor", import.meta.resolve("@anthropic-ai/sandbox-runtime/package.json")));

/** Milliseconds. */
const LONGEST_CLOSING = 5000;
const PAUSE = 20;
const NEXT_TRY = 1000;
/** How often the shell is looked for: the runtime asks another program for it, which on a busy machine outlasts its second. */
const MOST_LOOKS = 20;

let plan: SandboxPlan | undefined;

function tell(message: FromProcess): void {
  if (process.connected) process.send?.(message);
}

process.on("message", (message: ToProcess) => {
  switch (message.type) {
    case "open":
      open(message.plan).then(tell).catch(leave);
      return;
    case "wrap":
      wrap().then(
        (text) => tell({ type: "wrapped", id: message.id, text }),
        (error: unknown) => tell({ type: "failed", id: message.id, message: wordsOf(error) }),
      );
      return;
    case "ended":
      tell({ type: "settled", id: message.id, notices: endedNotices() });
      return;
    case "close":
      leave();
  }
});
process.once("disconnect", leave);

/** However it goes, this process ends. */
function leave(): void {
  close().then(
    () => process.exit(),
    () => process.exit(1),
  );
}

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
    holder = makeHolder(base, wanted.programs.mkfifo);
    held = new HeldPlaces(holder);
    plan = wanted;
    await tryOut();
    return { type: "opened", temporary, holder: holder.folder };
  } catch (error) {
    plan = undefined;
    return { type: "unavailable", reason: wordsOf(error) };
  }
}

/** How many commands run. */
let running = 0;
const submodules = new Submodules();
const links = new ProtectedLinks();

/** Returns what was put aside behind the command. */
function ended(): string[] {
  running -= 1;
  const notices = putAside();
  if (running === 0) releaseWhenIdle();
  return notices;
}

/** Releases placeholders when the last process of the last command is gone. A killed command takes a moment to die. */
function releaseWhenIdle(): void {
  if (running > 0) return;
  if (held?.hasCommands()) {
    setTimeout(releaseWhenIdle, PAUSE);
    return;
  }
  try {
    held?.release();
  } catch {
    // The disk may be full. Until a later try succeeds, the placeholders protect as before.
    setTimeout(releaseWhenIdle, NEXT_TRY);
  }
}

/** The same for a command that nobody waits for any more: what cannot be looked through is said, and the sandbox goes on. */
function endedNotices(): string[] {
  try {
    return ended();
  } catch (error) {
    return [`Files that a command left behind could not be checked: ${wordsOf(error)}.`];
  }
}

function putAside(): string[] {
  return [...links.putBack(), ...submodules.putAside()];
}

/** Descriptor of the pipe of `Holder.commands`. The processes around a command keep it open; the command itself does not get it. */
const COMMANDS = 8;

/** Throws unless a command runs in the sandbox, cannot write where it must not, and does not see what is hidden. */
async function tryOut(): Promise<void> {
  const writesOutside = '! (: > "$0") 2>/dev/null || { echo "it could write outside" >&2; exit 1; }';
  const seesHidden = '[ -z "$1" ] || [ ! -e "$1" ] || { echo "the home folder could not be closed" >&2; exit 1; }';
  const text = await wrap();
  try {
    await promisify(execFile)("/bin/sh", ["-c", `exec ${text}`], {
      env: {
        ...process.env,
        [WORDS]: shellWords({
          file: "sh",
          args: ["-c", `${writesOutside}; ${seesHidden}`, join(base, "forbidden"), plan?.hidden ?? ""],
        }),
      },
      timeout: 10_000,
    });
  } finally {
    ended();
  }
}

async function wrap(): Promise<string> {
  if (plan === undefined || held === undefined || holder === undefined) throw new Error("The sandbox is not open.");
  const { writable } = plan;
  // Counted before anything is made for it, so that a command that ends meanwhile takes nothing away.
  running += 1;
  try {
    const all = await protectedIn(plan);
    if (running === 1) links.remember(all);
    const found = await held.hold(all.flatMap((place) => madeIn(place, writable)));
    // What the runtime answers depends on these alone, and to make it takes longer than a short command.
    const key = keyOf(plan, found);
    if (last?.key !== key) last = { key, text: textFor(plan, found, holder.commands) };
    return await last.text;
  } catch (error) {
    last = undefined;
    ended();
    throw error;
  }
}

/** Returns the path to protect for a place: for a dangling link its target, or nothing if commands cannot write there. */
function madeIn(place: string, writable: readonly string[]): string[] {
  const made = madeAt(place) ?? place;
  return made === place || writable.some((folder) => isWithin(folder, made)) ? [made] : [];
}

let last: { readonly key: string; readonly text: Promise<string> } | undefined;

async function textFor(plan: SandboxPlan, found: readonly string[], pipe: string): Promise<string> {
  const config = configOf(plan, found);
  const command = `exec ${COMMANDS}>&-; ${INSIDE}=1; export ${INSIDE}; eval "unset ${WORDS}; exec $${WORDS}"`;
  for (let looks = 1; ; looks++) {
    try {
      return completed(await SandboxManager.wrapWithSandbox(command, "sh", config), plan, pipe);
    } catch (error) {
      if (looks === MOST_LOOKS || !wordsOf(error).endsWith("not found in PATH")) throw error;
    }
  }
}

async function protectedIn({ writable, writeDenied, repositories, programs: { rg } }: SandboxPlan): Promise<string[]> {
  if (rg === undefined) return [];
  const denied = writeDenied.filter((path) => writable.some((place) => isWithin(place, path))).map(missingPart);
  const found = await Promise.all(writable.map((place) => protectedPlaces(place, rg)));
  const all = [...repositories, ...found.flatMap((inner) => inner.repositories)];
  return [
    ...denied,
    ...found.flatMap(({ places }) => places),
    ...repositories.flatMap(protectedOfRepository),
    ...ofSubmodules(all),
  ];
}

/** What stays as it is of submodules: where the repository of each is, and what git obeys there. */
function ofSubmodules(repositories: readonly string[]): string[] {
  // While a command runs, what it makes is not taken for what was there.
  const known = running === 1 ? submodules.remember(repositories) : submodules.known;
  return known.flatMap(({ pointer, repository }) => [
    ...(repository === pointer ? [] : [pointer]),
    ...(repository === undefined ? [] : obeyedByGit(repository)),
  ]);
}

/** Where everything that is mounted leads, and what is there. */
function keyOf({ writable, writeDenied, readDenied, readable }: SandboxPlan, found: readonly string[]): string {
  const paths = [...found, ...writable, ...writeDenied, ...readDenied, ...readable];
  return JSON.stringify(paths.map((path) => [path, placeNow(path)]));
}

function placeNow(path: string): string | undefined {
  try {
    return `${statSync(path).isDirectory() ? "folder" : "file"} ${realpathSync(path)}`;
  } catch {
    // It is not there, or nobody can tell.
    return undefined;
  }
}

/** Where a path that is missing begins to be. */
function missingPart(path: string): string {
  const above = dirname(path);
  return above === path || (existsSync(above) && !isPlaceholder(above)) ? path : missingPart(above);
}

/** What comes after all that the runtime mounts. Nothing behind it is decided by names of files. */
const AFTER_MOUNTS = " --dev /dev --unshare-pid ";

/** What the runtime leaves out: folders in another place, shared memory and queues of others, and their keys. Throws when its command has another form. */
function completed(text: string, { caches, readable, readDenied }: SandboxPlan, pipe: string): string {
  if (process.platform !== "linux") return text;
  const at = text.lastIndexOf(AFTER_MOUNTS);
  if (at < 0) throw new Error("the sandbox runtime answered in an unexpected format");
  const mounts = caches.map((cache, index) => {
    // In a real folder nothing can be made for it.
    if (!existsSync(cache) && readable.some((place) => isWithin(place, cache) && existsSync(place))) return "";
    const source = join(base, "caches", String(index));
    mkdirSync(source, { recursive: true, mode: 0o700 });
    return ` ${shellWords({ file: "--bind", args: [source, cache] })}`;
  });
  // In a denied place, what is read lies over what is written.
  if (readDenied.some((place) => isWithin(place, realpathSync(temporary))))
    mounts.push(` ${shellWords({ file: "--bind", args: [temporary, temporary] })}`);
  const [filter, opened] = hasKeyFilter
    ? [" --seccomp 9", ` 9<${shellWords({ file: keyFilter, args: [] })}`]
    : ["", ""];
  const counted = ` ${COMMANDS}<>${shellWords({ file: pipe, args: [] })}`;
  return `${text.slice(0, at)}${mounts.join("")} --unshare-ipc${filter}${text.slice(at)}${opened}${counted}`;
}

function configOf(
  { writable, repositories, writeDenied, readDenied, readable, domains, programs }: SandboxPlan,
  found: readonly string[],
) {
  // The runtime lets commands write in a few places of its own accord.
  const ofRuntime = getDefaultWritePaths().filter((path) => !path.startsWith("/dev/") && existsSync(path));
  return {
    network: { allowedDomains: [...domains], deniedDomains: [] },
    filesystem: {
      denyRead: readDenied.map(literal),
      allowRead: [...readable.filter((path) => existsSync(path)), HELPER, base].map(literal),
      allowWrite: [...writable, ...repositories, temporary].map(literal),
      denyWrite: [...writeDenied.filter((path) => existsSync(path)), ...found, ...ofRuntime].map(literal),
    },
    ...(programs.bwrap !== undefined && { bwrapPath: programs.bwrap }),
    ...(programs.socat !== undefined && { socatPath: programs.socat }),
    // The runtime looks through its working folder for what it protects by itself, and that is empty.
    ripgrep: { command: "/bin/true" },
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
  if (holder !== undefined) await commandsEnded(holder);
  await SandboxManager.reset();
}
