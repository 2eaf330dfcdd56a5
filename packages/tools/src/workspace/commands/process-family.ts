import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { INSIDE } from "../../sandbox/find-program.ts";

/**
 * A process and all that it started. Its members are known by their process group, by their parents, and by a variable
 * that only they have in their environment: so those that left the group by a session of their own are found too. The
 * last two need `/proc`; on other systems the group is all that is known.
 */
export interface ProcessFamily {
  /** The id of the first process, which leads the group. */
  readonly group: number;
  /** The clock tick when it started; nothing older belongs to it. */
  readonly since: number;
  /** A text that occurs in the environment of its members, and of no other process. */
  readonly mark: string;
}

interface Process {
  readonly id: number;
  readonly parent: number;
  readonly group: number;
  readonly since: number;
  readonly isDead: boolean;
}

/** How long a family has between being asked to end and being ended, in milliseconds. */
const GRACE = 2000;
/** A family that forks faster than it dies is ended again, this often. */
const MOST_ROUNDS = 20;

/** The family of a process that was just started as the leader of a new group. */
export function familyOf(leader: number, mark: string): ProcessFamily {
  return { group: leader, since: readProcess(leader)?.since ?? 0, mark };
}

/**
 * Ends a family: SIGTERM to all of it, and SIGKILL to who is still there after two seconds, or as soon as `hurry` aborts.
 * Returns when nobody is left. Returns at once when nobody was there.
 */
export async function endFamily(family: ProcessFamily, hurry?: AbortSignal): Promise<void> {
  const known = new Set<string>();
  if (!signalFamily(family, "SIGTERM", known)) return;
  const deadline = performance.now() + GRACE;
  for (let pause = 5; performance.now() < deadline && !hurry?.aborted; pause = Math.min(2 * pause, 100)) {
    // Who is in a hurry does not wait for the end of the pause.
    await sleep(pause, undefined, hurry && { signal: hurry }).catch(() => {});
    if (!isAlive(family, known)) return;
  }
  for (let round = 0; round < MOST_ROUNDS && signalFamily(family, "SIGKILL", known); round += 1) await sleep(10);
}

/** Ends a family at once, without waiting: for the moment when the program itself ends. */
export function killFamily(family: ProcessFamily): void {
  const known = new Set<string>();
  // Once more for what was forked between looking and killing.
  for (let round = 0; round < 3 && signalFamily(family, "SIGKILL", known); round += 1);
}

/** Returns whether a process of a family lives. */
export function isLiving(family: ProcessFamily): boolean {
  return isAlive(family, new Set());
}

/**
 * Returns whether a member waits for the standard input of the first process: it reads that, or watches that and no connection beside
 * (F80). Always false where there is no `/proc` to tell.
 */
export function waitsForInput(family: ProcessFamily): boolean {
  const input = linkOf(family.group, 0);
  if (input === undefined) return false;
  const members = membersOf(family, new Set()) ?? [];
  return members.some(({ id }) => linkOf(id, 0) === input && (readsInput(id) || watchesInput(id)));
}

/** See proc_pid_syscall(5) and proc_pid_wchan(5): the first argument of a blocked read is what it reads. */
function readsInput(id: number): boolean {
  return /^\d+ 0x0 /.test(textOf(id, "syscall")) && /_read\b|_read_/.test(textOf(id, "wchan"));
}

/** See epoll(7): a program with an event loop asks to be woken by what it waits for. */
function watchesInput(id: number): boolean {
  if (!/epoll/.test(textOf(id, "wchan"))) return false;
  return namesIn(`/proc/${id}/fdinfo`).some((loop) => {
    const watched = Array.from(textOf(id, `fdinfo/${loop}`).matchAll(/^tfd:\s*(\d+)/gm), ([, fd]) => Number(fd));
    return watched.includes(0) && !watched.some((fd) => fd > 2 && linkOf(id, fd)?.startsWith("socket:"));
  });
}

/** Returns the target of an open file of a process; undefined when it has no file of that number, or has ended. */
function linkOf(id: number, fd: number): string | undefined {
  try {
    return readlinkSync(`/proc/${id}/fd/${fd}`);
  } catch {
    // It ended, closed the file, or belongs to another user.
    return undefined;
  }
}

function textOf(id: number, file: string): string {
  try {
    return readFileSync(`/proc/${id}/${file}`, "latin1");
  } catch {
    // It ended, or the system keeps this to itself.
    return "";
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // It ended.
    return [];
  }
}

/** The commands that run now; when the program ends, they do. */
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

  /** Ends all of them, as `endFamily` does. */
  async end(): Promise<void> {
    await Promise.all([...this.#families].map((family) => endFamily(family).then(() => this.remove(family))));
  }
}

/** Whether anybody was there to get the signal. */
function signalFamily(family: ProcessFamily, signal: "SIGTERM" | "SIGKILL", known: Set<string>): boolean {
  const members = membersOf(family, known);
  if (members === undefined) return send(-family.group, signal);
  // The processes around a sandbox would take all of it with them at once; they end by themselves when it is empty.
  const inSandbox = signal === "SIGTERM" ? members.filter(isInSandbox) : [];
  if (inSandbox.length > 0) {
    for (const member of inSandbox) send(member.id, signal);
    return true;
  }
  // The group as a whole first: that reaches those who are just being forked.
  if (members.some((member) => member.group === family.group)) send(-family.group, signal);
  for (const member of members) if (member.group !== family.group) send(member.id, signal);
  return members.length > 0;
}

function isAlive(family: ProcessFamily, known: Set<string>): boolean {
  return (membersOf(family, known)?.length ?? Number(send(-family.group, 0))) > 0;
}

function send(id: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(id, signal);
  } catch {
    // It ended in the meantime, or took another user's rights, and then it is out of reach.
    return false;
  }
}

/**
 * The living members; undefined where there is no `/proc` to tell. `known` takes them down: one that was seen as a child
 * stays a member when its parent has ended.
 */
function membersOf(family: ProcessFamily, known: Set<string>): readonly Process[] | undefined {
  const all = processes();
  if (all === undefined) return undefined;
  const younger = all.filter((one) => one.since >= family.since && one.id !== process.pid);
  const members = new Set(
    younger.filter(
      (one) => one.group === family.group || known.has(nameOf(one)) || environmentOf(one).includes(family.mark),
    ),
  );
  for (let before = -1; before !== members.size; ) {
    before = members.size;
    const ids = new Set([...members].map((member) => member.id));
    for (const one of younger) if (ids.has(one.parent)) members.add(one);
  }
  for (const member of members) known.add(nameOf(member));
  return [...members].filter((member) => !member.isDead);
}

/** An id is used again after a while; together with the start it is not. */
function nameOf(one: Process): string {
  return `${one.id} since ${one.since}`;
}

/** Inside a sandbox of its own, the program's processes all are, and there is no other. */
function isInSandbox(one: Process): boolean {
  return process.env[INSIDE] === undefined && environmentOf(one).includes(`${INSIDE}=`);
}

/** What a process was started with; nothing when it has ended, or belongs to another user. */
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

/** See proc_pid_stat(5). The name, in parentheses, may hold anything; the fields behind its last `)` are counted from 3. */
function readProcess(id: number): Process | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${id}/stat`, "latin1");
  } catch {
    // It ended.
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
