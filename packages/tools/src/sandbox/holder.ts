import { execFileSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

/** Not `TMPDIR`, because all programs of all users have to find each other here. Sandboxed commands cannot write here. */
const TOP = "/tmp";
const OF_USER = "banyan-sandboxes-";

const OWNER = "owner";
const RUNNING = "running";
const ENDED = "ended";
const PIPE = "commands";
const NEEDS = "needs";
const BASE = "base";
const REMOVING = "removing";
const UNFINISHED = "new-";
const MOST_BYTES = 16 * 1024 * 1024;

/** The paths of placeholders by their keys. A placeholder has one key, but programs can reach it by different paths. */
export type PlaceholderPaths = ReadonlyMap<string, string>;

/**
 * The record of one sandbox that the programs of all users on this machine can read: a folder that lists the sandbox's
 * placeholders.
 * Two named pipes show whether the sandbox still runs: opening a pipe for writing fails if no process has it open for
 * reading. This is right even after a SIGKILL and after reuse of process ids. `owner` is open in the program and in the
 * sandbox process, `commands` is open around each running command.
 */
export class SandboxHolder {
  readonly folder: string;
  readonly isOwn: boolean;

  constructor(folder: string, isOwn: boolean) {
    this.folder = folder;
    this.isOwn = isOwn;
  }

  get commands(): string {
    return join(this.folder, RUNNING, PIPE);
  }

  /** Keeps the record valid until this process ends or closes the returned descriptor. */
  own(): number {
    return openSync(join(this.folder, OWNER), constants.O_RDWR | constants.O_NONBLOCK);
  }

  hasOwner(): boolean {
    return hasReader(join(this.folder, OWNER));
  }

  hasCommands(): boolean {
    return hasReader(this.commands) || hasReader(join(this.folder, ENDED, PIPE));
  }

  lives(): boolean {
    return this.hasOwner() || this.hasCommands();
  }

  needs(): PlaceholderPaths {
    try {
      return new Map(Object.entries<string>(JSON.parse(readForeignFile(join(this.folder, NEEDS)))));
    } catch {
      // The sandbox has no needs yet, or another user wrote something else into the file.
      return new Map();
    }
  }

  publish(needs: PlaceholderPaths): void {
    const file = join(this.folder, NEEDS);
    if (needs.size === 0) {
      rmSync(file, { force: true });
      return;
    }
    writeFileSync(`${file}.next`, JSON.stringify(Object.fromEntries(needs)), { mode: 0o644 });
    renameSync(`${file}.next`, file);
  }

  /** Returns the folder of the sandbox's temporary files; undefined if a crash prevented writing its path. */
  base(): string | undefined {
    try {
      return readFileSync(join(this.folder, BASE), "utf8");
    } catch {
      return undefined;
    }
  }

  /** Returns whether the owner is removing placeholders. None of its own commands runs then. */
  isRemoving(): boolean {
    return lstatSync(join(this.folder, REMOVING), { throwIfNoEntry: false }) !== undefined && this.hasOwner();
  }

  setRemoving(removes: boolean): void {
    const flag = join(this.folder, REMOVING);
    if (removes) writeFileSync(flag, "", { mode: 0o644 });
    else rmSync(flag, { force: true });
  }

  retire(): void {
    try {
      renameSync(join(this.folder, RUNNING), join(this.folder, ENDED));
    } catch {
      // Another program retired or removed the holder first.
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/**
 * Creates the record of a new sandbox, which is valid until this process ends. `base` is the folder of the sandbox's
 * temporary files, `mkfifo` the path of that program.
 */
export function makeHolder(base: string, mkfifo: string): SandboxHolder {
  const all = holdersFolder();
  mkdirSync(all, { recursive: true });
  const { uid } = lstatSync(all);
  if (!isFolderOf(all, process.getuid?.() ?? uid))
    throw new Error(`${all} belongs to another user; remove this folder, in which sandboxes keep their locks`);
  const unfinished = mkdtempSync(join(all, UNFINISHED));
  for (const folder of [all, unfinished]) chmodSync(folder, 0o755);
  const holder = new SandboxHolder(unfinished, true);
  mkdirSync(dirname(holder.commands), { mode: 0o755 });
  execFileSync(mkfifo, ["-m", "666", join(unfinished, OWNER), holder.commands]);
  writeFileSync(join(unfinished, BASE), base);
  holder.own();
  // Renamed only now: other programs would take a record without an open pipe for that of a dead sandbox.
  const folder = join(all, basename(unfinished).slice(UNFINISHED.length));
  renameSync(unfinished, folder);
  return new SandboxHolder(folder, true);
}

/** Returns the folder of the records of all of this user's sandboxes. */
export function holdersFolder(): string {
  return join(realpathSync(TOP), `${OF_USER}${process.getuid?.() ?? ""}`);
}

/** Returns the records of all other sandboxes, of all users. */
export function otherHolders(holder: SandboxHolder): readonly SandboxHolder[] {
  const own = holdersFolder();
  return readdirSync(dirname(own))
    .filter((name) => name.startsWith(OF_USER))
    .flatMap((name) => {
      const folder = join(dirname(own), name);
      // Ignore a folder that a user created under another user's name.
      if (!isFolderOf(folder, Number(name.slice(OF_USER.length)))) return [];
      return listHolderFolder(folder).map((one) => new SandboxHolder(join(folder, one), folder === own));
    })
    .filter(({ folder }) => folder !== holder.folder);
}

function listHolderFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => !name.startsWith(UNFINISHED));
  } catch {
    // The folder is not readable, or was just removed.
    return [];
  }
}

function isFolderOf(path: string, user: number): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isDirectory() === true && stats.uid === user;
}

function hasReader(pipe: string): boolean {
  try {
    closeSync(openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW));
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code !== "ENXIO" && code !== "ENOENT";
  }
}

/** Reads a file that another user may have created. Never follows a link, blocks on a pipe, or reads without limit. */
function readForeignFile(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const stats = fstatSync(file);
    return stats.isFile() && stats.size <= MOST_BYTES ? readFileSync(file, "utf8") : "";
  } finally {
    closeSync(file);
  }
}
