import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { INSIDE } from "../../sandbox/find-program.ts";

/**
 * A process and all its descendants. They are found by their process group, by their parents, and by a variable that
 * only their environment has. So processes that began a session of their own are found too. Parents and environment
 * need `/proc`; other systems only have the group.
 */
export interface ProcessFamily {
  /** The id of the first process, which leads the group. */
  readonly group: number;
  /** The clock tick of the start. No older process belongs to the family. */
  readonly since: number;
  /** A text that only the environments of the family's processes contain. */
  readonly mark: string;
}

interface Process {
  readonly id: number;
  readonly parent: number;
  readonly group: number;
  readonly since: number;
  readonly isDead: boolean;
}

const GRACE = 2000;
/** Maximum number of rounds of SIGKILL for a family that forks faster than it dies. */
const MOST_ROUNDS = 20;

const MARK = "BANYAN_PROCESSES";

/**
 * Returns an environment for a new process family, and its mark. A family inside another family has the marks of both,
 * so that either family finds its processes.
 */
export function markedEnvironment<Variables extends object>(
  environment: Variables,
): { readonly mark: string; readonly environment: Variables & Record<typeof MARK, string> } {
  const mark = randomUUID();
  const around = process.env[MARK];
  return { mark, environment: { ...environment, [MARK]: around === undefined ? mark : `${around},${mark}` } };
}

/** Returns the family of a process that was just started as the leader of a new group. */
export function familyOf(leader: number, mark: string): ProcessFamily {
  return { group: leader, since: readProcess(leader)?.since ?? 0, mark };
}

/** Waits for a promise, but at most `time` milliseconds. */
export async function waitAtMostFor(time: number, promise: Promise<unknown> | undefined): Promise<void> {
  const over = Promise.withResolvers<void>();
  const timer = setTimeout(over.resolve, time);
  await Promise.race([promise, over.promise]).finally(() => clearTimeout(timer));
}

/**
 * Ends a process family: SIGTERM to all processes, then SIGKILL to the rest after two seconds, or as soon as `hurry`
 * aborts. Resolves when no process is left; at once if none was running.
 */
export async function endFamily(family: ProcessFamily, hurry?: AbortSignal): Promise<void> {
  const known = new Set<string>();
  if (!signalFamily(family, "SIGTERM", known)) return;
  const deadline = performance.now() + GRACE;
  for (let pause = 5; performance.now() < deadline && !hurry?.aborted; pause = Math.min(2 * pause, 100)) {
    // `hurry` ends the pause.
    await sleep(pause, undefined, hurry && { signal: hurry }).catch(() => {});
    if (!isFamilyAlive(family, known)) return;
  }
  for (let round = 0; round < MOST_ROUNDS && signalFamily(family, "SIGKILL", known); round += 1) await sleep(10);
}

/** Kills a process family without waiting for its end. Used when the program exits. */
export function killFamily(family: ProcessFamily): void {
  const known = new Set<string>();
  for (let round = 0; round < 3 && signalFamily(family, "SIGKILL", known); round += 1);
}

/** Returns whether a process of the family still runs. */
export function isLiving(family: ProcessFamily): boolean {
  return isFamilyAlive(family, new Set());
}

/**
 * Returns whether a process of the family waits for the standard input of the first process: the process reads the
 * input, or polls the input and no connection (F80). Always false without `/proc`.
 */
export function waitsForInput(family: ProcessFamily): boolean {
  const input = linkOf(family.group, 0);
  if (input === undefined) return false;
  const members = membersOf(family, new Set()) ?? [];
  return members.some(({ id }) => linkOf(id, 0) === input && (readsInput(id) || watchesInput(id)));
}

/** Returns the bytes of memory that the processes of a family occupy together; 0 without `/proc`. */
export function familyMemory(family: ProcessFamily): number {
  const members = membersOf(family, new Set()) ?? [];
  // See proc_pid_status(5): pages that processes share count for each of them.
  const kibibytes = members.map(({ id }) => /^VmRSS:\s*(\d+) kB/m.exec(readProcFile(id, "status"))?.[1]);
  return 1024 * kibibytes.reduce((sum, one) => sum + Number(one ?? 0), 0);
}

/** See proc_pid_syscall(5) and proc_pid_wchan(5): the first argument of a blocked read is the file descriptor. */
function readsInput(id: number): boolean {
  return /^\d+ 0x0 /.test(readProcFile(id, "syscall")) && /_read\b|_read_/.test(readProcFile(id, "wchan"));
}

/** See epoll(7): a program with an event loop registers the files that it waits for. */
function watchesInput(id: number): boolean {
  if (!/epoll/.test(readProcFile(id, "wchan"))) return false;
  return listProcFolder(`/proc/${id}/fdinfo`).some((loop) => {
    const watched = Array.from(readProcFile(id, `fdinfo/${loop}`).matchAll(/^tfd:\s*(\d+)/gm), ([, fd]) => Number(fd));
    return watched.includes(0) && !watched.some((fd) => fd > 2 && linkOf(id, fd)?.startsWith("socket:"));
  });
}

function linkOf(id: number, fd: number): string | undefined {
  try {
    return readlinkSync(`/proc/${id}/fd/${fd}`);
  } catch {
    // The process ended, closed the file, or belongs to another user.
    return undefined;
  }
}

function readProcFile(id: number, file: string): string {
  try {
    return readFileSync(`/proc/${id}/${file}`, "latin1");
  } catch {
    // The process ended, or the system denies access.
    return "";
  }
}

function listProcFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // The process ended.
    return [];
  }
}

/** The running commands, which end with the program. */
export class RunningCommands {
  readonly #families = new Set<ProcessFamily>();
  readonly #endAll = () => {
    for (const family of this.#families) killFamily(family);
  };

  add(family: ProcessFamily): void {
    if (this.#families.size === 0) process.on("exit", this.#endAll);
    this.#families.add(family);
  }

  remove(family: ProcessFamily): void {
    this.#families.delete(family);
    if (this.#families.size === 0) process.off("exit", this.#endAll);
  }

  async end(): Promise<void> {
    await Promise.all([...this.#families].map((family) => endFamily(family).then(() => this.remove(family))));
  }
}

function signalFamily(family: ProcessFamily, signal: "SIGTERM" | "SIGKILL", known: Set<string>): boolean {
  const members = membersOf(family, known);
  if (members === undefined) return sendSignal(-family.group, signal);
  // SIGTERM to the processes around a sandbox would kill the sandbox at once. Such processes end when the sandbox is
  // empty.
  const inSandbox = signal === "SIGTERM" ? members.filter(isInSandbox) : [];
  if (inSandbox.length > 0) {
    for (const member of inSandbox) sendSignal(member.id, signal);
    return true;
  }
  // Signal the group first: that reaches processes that are being forked.
  if (members.some((member) => member.group === family.group)) sendSignal(-family.group, signal);
  for (const member of members) if (member.group !== family.group) sendSignal(member.id, signal);
  return members.length > 0;
}

function isFamilyAlive(family: ProcessFamily, known: Set<string>): boolean {
  return (membersOf(family, known)?.length ?? Number(sendSignal(-family.group, 0))) > 0;
}

function sendSignal(id: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(id, signal);
  } catch {
    // The process ended meanwhile, or is out of reach because it took another user's rights.
    return false;
  }
}

/**
 * Returns the living processes of a family; undefined without `/proc`. Adds them to `known`: a process that was seen as
 * a child stays a member after its parent has ended.
 */
function membersOf(family: ProcessFamily, known: Set<string>): readonly Process[] | undefined {
  const all = processes();
  if (all === undefined) return undefined;
  const younger = all.filter((one) => one.since >= family.since && one.id !== process.pid);
  const members = new Set(
    younger.filter(
      (one) => one.group === family.group || known.has(processName(one)) || environmentOf(one).includes(family.mark),
    ),
  );
  for (let before = -1; before !== members.size; ) {
    before = members.size;
    const ids = new Set([...members].map((member) => member.id));
    for (const one of younger) if (ids.has(one.parent)) members.add(one);
  }
  for (const member of members) known.add(processName(member));
  return [...members].filter((member) => !member.isDead);
}

/** A process id is reused after a while; id and start time together are unique. */
function processName(one: Process): string {
  return `${one.id} since ${one.since}`;
}

/** Always false inside a sandbox: there, all processes are in the same sandbox. */
function isInSandbox(one: Process): boolean {
  return process.env[INSIDE] === undefined && environmentOf(one).includes(`${INSIDE}=`);
}

function environmentOf(one: Process): Buffer {
  try {
    return readFileSync(`/proc/${one.id}/environ`);
  } catch {
    return Buffer.alloc(0);
  }
}

function processes(): readonly Process[] | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (readProcess(Number(name)) ?? []) : []));
  } catch {
    // `/proc` is not mounted.
    return undefined;
  }
}

/** See proc_pid_stat(5). The name in parentheses may contain anything; the fields after the last `)` begin with number 3. */
function readProcess(id: number): Process | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${id}/stat`, "latin1");
  } catch {
    // The process ended.
    return undefined;
  }
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return {
    id,
    parent: Number(fields[1]),
    group: Number(fields[2]),
    since: Number(fields[19]),
    isDead: fields[0] === "Z" || fields[0] === "X",
  };
}
