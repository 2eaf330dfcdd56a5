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
import { HeldPlaces, removeEnded, waitForCommands } from "./held-places.ts";
import { makeHolder, type SandboxHolder } from "./holder.ts";
import { writeKeyFilter } from "./kernel-keys.ts";
import type { FromProcess, NetworkEntrance, SandboxPlan, ToProcess } from "./messages.ts";
import { isPlaceholder } from "./placeholder.ts";
import { danglingTarget, ProtectedLinks } from "./protected-links.ts";
import { isPathWithin, protectedPlaces } from "./protected-places.ts";
import { obeyedByGit, protectedOfRepository } from "./repository.ts";
import { AFTER_MOUNTS, afterOptions, inNetwork, unknownFormat } from "./runtime-command.ts";
import { SharedNetworks } from "./shared-networks.ts";
import { Submodules } from "./submodules.ts";
import { WaitingConnections } from "./waiting-connections.ts";

/*
 * The process of one sandbox. Each sandbox has its own process in an empty folder, because the sandbox runtime keeps
 * its configuration, proxies and mount points per process, handles the process's signals, and creates empty files in
 * the working directory while a command runs. When the program ends in any way, this process stops the proxies, cleans
 * up and exits.
 */

// Other users must be able to read which placeholders this sandbox needs.
process.umask(0o022);
const base = mkdtempSync(join(tmpdir(), "banyan-sandbox-"));
const temporary = join(base, "tmp");
const empty = join(base, "empty");
for (const folder of [temporary, empty]) mkdirSync(folder, { mode: 0o700 });
let holder: SandboxHolder | undefined;
let held: HeldPlaces | undefined;
const keyFilter = join(base, "keys.bpf");
const hasKeyFilter = writeKeyFilter(keyFilter);
process.chdir(empty);
process.once("exit", () => {
  if (held !== undefined && running > 0) putAside();
  // If a command still runs, the program or the next sandbox removes the placeholders later.
  if (holder !== undefined) removeEnded(holder);
  rmSync(base, { recursive: true, force: true, maxRetries: 3 });
});
// The runtime puts its sockets here, and passes the folder to commands.
process.env.TMPDIR = base;
process.env.CLAUDE_CODE_TMPDIR = temporary;

const HELPER = fileURLToPath(new URL("vendor", import.meta.resolve("@anthropic-ai/sandbox-runtime/package.json")));

const LONGEST_CLOSING = 5000;
const PAUSE = 20;
const NEXT_TRY = 1000;
/** Maximum number of searches for the shell. The runtime waits one second for another program, too short on a busy machine. */
const MOST_LOOKS = 20;

type WrapRequest = Omit<Extract<ToProcess, { type: "wrap" }>, "type" | "id">;

let plan: SandboxPlan | undefined;
const connections = new WaitingConnections(sendToParent);

function sendToParent(message: FromProcess): void {
  if (process.connected) process.send?.(message);
}

process.on("message", (message: ToProcess) => {
  switch (message.type) {
    case "open":
      startSandbox(message.plan).then(sendToParent).catch(leave);
      return;
    case "wrap":
      wrapCommand(message).then(
        (wrapped) => sendToParent({ type: "wrapped", id: message.id, ...wrapped }),
        (error: unknown) => sendToParent({ type: "failed", id: message.id, message: sandboxErrorText(error) }),
      );
      return;
    case "connection":
      connections.answer(message.id, message.refusal);
      return;
    case "domains":
      useDomains(message.domains);
      return;
    case "ended":
      sendToParent({ type: "settled", id: message.id, notices: endedNotices(message.loopback) });
      return;
    case "close":
      leave();
  }
});
process.once("disconnect", leave);

function leave(): void {
  close().then(
    () => process.exit(),
    () => process.exit(1),
  );
}

async function startSandbox(wanted: SandboxPlan): Promise<FromProcess> {
  const config = sandboxConfig(wanted, []);
  const checked = SandboxRuntimeConfigSchema.safeParse(config);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    return { type: "invalid", message: `${issue?.path.join(".")}: ${issue?.message}` };
  }
  try {
    SandboxManager.updateConfig(config);
    const { errors, warnings } = SandboxManager.checkDependencies();
    // The runtime also searches for ripgrep, which the parent has found already.
    const missing = errors.filter((error) => !error.startsWith("ripgrep "));
    const lacking = [...missing, ...warnings.filter((warning) => warning.startsWith("seccomp"))];
    if (lacking.length > 0) return { type: "unavailable", reason: lacking.join("; ") };
    if (process.platform === "linux")
      inShell = afterOptions(await SandboxManager.wrapWithSandbox(COMMAND, "sh", config));
    if (wanted.isProxied || wanted.domains.length > 0)
      await SandboxManager.initialize(config, (address) => connections.decide(address));
    holder = makeHolder(base, wanted.programs.mkfifo);
    held = new HeldPlaces(holder);
    plan = wanted;
    const { bwrap, socat, nsenter } = wanted.programs;
    if (bwrap !== undefined && socat !== undefined && nsenter !== undefined)
      networks = new SharedNetworks({ bwrap, socat, nsenter, proxy: SandboxManager.getLinuxHttpSocketPath() });
    const isShared = networks !== undefined && (await succeeds(tryOut("trial")));
    networks?.close();
    // Without the right to enter a namespace, each command has its own network.
    if (!isShared) networks = undefined;
    if (!isShared) await tryOut();
    return { type: "opened", temporary, holder: holder.folder, isShared };
  } catch (error) {
    plan = undefined;
    return { type: "unavailable", reason: sandboxErrorText(error) };
  }
}

function useDomains(domains: readonly string[]): void {
  if (plan === undefined) return;
  plan = { ...plan, domains };
  SandboxManager.updateConfig(sandboxConfig(plan, []));
}

/** The networks that commands share, if this machine permits them. */
let networks: SharedNetworks | undefined;
let running = 0;
const submodules = new Submodules();
const links = new ProtectedLinks();

function cleanUpAfterCommand(): string[] {
  running -= 1;
  const notices = putAside();
  if (running === 0) releaseWhenIdle();
  return notices;
}

/** Releases the placeholders once the last process is gone. A killed command takes a moment to die. */
function releaseWhenIdle(): void {
  if (running > 0) return;
  if (held?.hasCommands()) {
    setTimeout(releaseWhenIdle, PAUSE);
    return;
  }
  try {
    held?.release();
  } catch {
    // The disk may be full. The placeholders keep protecting until a later attempt succeeds.
    setTimeout(releaseWhenIdle, NEXT_TRY);
  }
}

/** Like `ended`, for a command without a waiting caller: an error becomes a notice, and the sandbox continues. */
function endedNotices(loopback: string | undefined): string[] {
  const lost = loopback !== undefined && networks?.leave(loopback) === true ? [LOST_NETWORK] : [];
  try {
    return [...lost, ...cleanUpAfterCommand()];
  } catch (error) {
    return [`Files that a command left behind could not be checked: ${sandboxErrorText(error)}.`];
  }
}

function putAside(): string[] {
  return [...links.putBack(), ...submodules.putAside()];
}

const LOST_NETWORK =
  "Another program ended the network that the commands of this conversation share. Start the servers of these commands again.";

/** Descriptor of the pipe of `SandboxHolder.commands`. The processes around a command have it open, not the command. */
const COMMANDS = 8;
/** Descriptor of the key filter. The runtime uses descriptor 9 for a long list of mounts. */
const FILTER = 7;

/** Throws unless a command runs in the sandbox, cannot write outside, and cannot see the hidden file. */
async function tryOut(loopback?: string): Promise<void> {
  const writesOutside = '! (: > "$0") 2>/dev/null || { echo "it could write outside" >&2; exit 1; }';
  const seesHidden = '[ -z "$1" ] || [ ! -e "$1" ] || { echo "the home folder could not be closed" >&2; exit 1; }';
  const { text, entrance } = await wrapCommand({ loopback, hidden: [], isDirect: false, readOnly: undefined });
  try {
    if (loopback !== undefined && entrance === undefined) throw new Error("there is no shared network");
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
    if (entrance && loopback !== undefined) networks?.leave(loopback);
    cleanUpAfterCommand();
  }
}

function succeeds(work: Promise<void>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}

async function wrapCommand({
  loopback,
  hidden,
  isDirect,
  readOnly,
}: WrapRequest): Promise<{ text: string; entrance?: NetworkEntrance }> {
  if (plan === undefined || held === undefined || holder === undefined) throw new Error("The sandbox is not open.");
  const { writable } = plan;
  const wanted = limited({ ...plan, readDenied: [...plan.readDenied, ...hidden] }, readOnly);
  // Count before any placeholder is created: a command that ends meanwhile must not remove placeholders.
  running += 1;
  let entrance: NetworkEntrance | undefined;
  try {
    const all = await protectedIn(plan);
    if (running === 1) links.remember(all);
    const found = await held.hold(all.flatMap((place) => madeIn(place, writable)));
    const key = mountsKey(wanted, found);
    if (last?.key !== key) last = { key, text: wrappedCommand(wanted, found) };
    const text = await last.text;
    // The system may permit no more namespaces: then the command has its own network.
    const isShared = loopback !== undefined && !isDirect;
    entrance = isShared ? await networks?.join(loopback).catch(() => undefined) : undefined;
    const enter = isDirect ? [] : entrance?.enter;
    return {
      text: completed(
        enter === undefined ? text : inNetwork(text, { enter, bwrap: wanted.programs.bwrap ?? "", inShell }),
        wanted,
        holder.commands,
      ),
      ...(entrance && { entrance }),
    };
  } catch (error) {
    last = undefined;
    if (entrance && loopback !== undefined) networks?.leave(loopback);
    cleanUpAfterCommand();
    throw error;
  }
}

function limited(plan: SandboxPlan, readOnly: readonly string[] | undefined): SandboxPlan {
  if (readOnly === undefined) return plan;
  const writable = plan.writable.slice(0, 1);
  return { ...plan, writable, repositories: [], writeDenied: [...plan.writeDenied, ...readOnly] };
}

/** Returns the path to protect. For a dangling link this is its target, or nothing if the target is not writable. */
function madeIn(place: string, writable: readonly string[]): string[] {
  const made = danglingTarget(place) ?? place;
  return made === place || writable.some((folder) => isPathWithin(folder, made)) ? [made] : [];
}

let last: { readonly key: string; readonly text: Promise<string> } | undefined;

const COMMAND = `exec ${COMMANDS}>&-; ${INSIDE}=1; export ${INSIDE}; eval "unset ${WORDS}; exec $${WORDS}"`;

async function wrappedCommand(plan: SandboxPlan, found: readonly string[]): Promise<string> {
  const config = sandboxConfig(plan, found);
  for (let looks = 1; ; looks++) {
    try {
      return await SandboxManager.wrapWithSandbox(COMMAND, "sh", config);
    } catch (error) {
      if (looks === MOST_LOOKS || !sandboxErrorText(error).endsWith("not found in PATH")) throw error;
    }
  }
}

async function protectedIn({ writable, writeDenied, repositories, programs: { rg } }: SandboxPlan): Promise<string[]> {
  if (rg === undefined) return [];
  const denied = writeDenied.filter((path) => writable.some((place) => isPathWithin(place, path))).map(missingPart);
  const found = await Promise.all(writable.map((place) => protectedPlaces(place, rg)));
  const all = [...repositories, ...found.flatMap((inner) => inner.repositories)];
  return [
    ...denied,
    ...found.flatMap(({ places }) => places),
    ...repositories.flatMap(protectedOfRepository),
    ...ofSubmodules(all),
  ];
}

function ofSubmodules(repositories: readonly string[]): string[] {
  // While a command runs, its new submodules must not count as known.
  const known = running === 1 ? submodules.remember(repositories) : submodules.known;
  return known.flatMap(({ pointer, repository }) => [
    ...(repository === pointer ? [] : [pointer]),
    ...(repository === undefined ? [] : obeyedByGit(repository)),
  ]);
}

function mountsKey(plan: SandboxPlan, found: readonly string[]): string {
  const { writable, repositories, writeDenied, readDenied, readable } = plan;
  const paths = [...found, ...writable, ...repositories, ...writeDenied, ...readDenied, ...readable];
  return JSON.stringify(paths.map((path) => [path, placeNow(path)]));
}

function placeNow(path: string): string | undefined {
  try {
    return `${statSync(path).isDirectory() ? "folder" : "file"} ${realpathSync(path)}`;
  } catch {
    // The path is missing or unreadable.
    return undefined;
  }
}

function missingPart(path: string): string {
  const above = dirname(path);
  return above === path || (existsSync(above) && !isPlaceholder(above)) ? path : missingPart(above);
}

/** The end of the runtime's command without relays to the proxies: a shell with `COMMAND`. */
let inShell = "";

/** Adds what the runtime lacks: cache mounts, own shared memory and queues, and the key filter. Throws on an unknown format. */
function completed(text: string, { caches, readable, readDenied }: SandboxPlan, pipe: string): string {
  if (process.platform !== "linux") return text;
  const at = text.lastIndexOf(AFTER_MOUNTS);
  if (at < 0) throw unknownFormat();
  const mounts = caches.map((cache, index) => {
    // A real readable folder cannot get a new mount point.
    if (!existsSync(cache) && readable.some((place) => isPathWithin(place, cache) && existsSync(place))) return "";
    const source = join(base, "caches", String(index));
    mkdirSync(source, { recursive: true, mode: 0o700 });
    return ` ${shellWords({ file: "--bind", args: [source, cache] })}`;
  });
  // Inside a denied folder, the read mounts cover the write mounts.
  if (readDenied.some((place) => isPathWithin(place, realpathSync(temporary))))
    mounts.push(` ${shellWords({ file: "--bind", args: [temporary, temporary] })}`);
  const [filter, opened] = hasKeyFilter
    ? [` --seccomp ${FILTER}`, ` ${FILTER}<${shellWords({ file: keyFilter, args: [] })}`]
    : ["", ""];
  const counted = ` ${COMMANDS}<>${shellWords({ file: pipe, args: [] })}`;
  return `${text.slice(0, at)}${mounts.join("")} --unshare-ipc${filter}${text.slice(at)}${opened}${counted}`;
}

function sandboxConfig(
  { writable, repositories, writeDenied, readDenied, readable, domains, programs }: SandboxPlan,
  found: readonly string[],
) {
  // The runtime makes a few paths writable by default: deny them.
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
    // The runtime searches its working folder for files to protect. That folder is empty.
    ripgrep: { command: "/bin/true" },
  } satisfies SandboxRuntimeConfig;
}

function literal(path: string): { path: string; literal: true } {
  return { path, literal: true };
}

function sandboxErrorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "stderr" in error ? `a first command failed in it: ${String(error.stderr).trim()}` : error.message;
}

async function close(): Promise<void> {
  setTimeout(() => process.exit(), LONGEST_CLOSING);
  if (holder !== undefined) await waitForCommands(holder);
  networks?.close();
  await SandboxManager.reset();
}
