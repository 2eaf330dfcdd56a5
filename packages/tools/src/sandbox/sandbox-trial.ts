import { createHash } from "node:crypto";
import {
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { release } from "node:os";
import { dirname } from "node:path";

/** The result of a trial: success, or the reason why this machine cannot have a sandbox. */
export type TrialResult = { readonly works: true } | { readonly works: false; readonly reason: string };

/** Results that the file keeps. The oldest results leave first. */
const MOST_RESULTS = 64;
/** Milliseconds for which a failure is remembered. A failure may have causes that no identity covers. */
const LONGEST_FAILURE = 3_600_000;

/** Files whose content decides whether the system allows sandboxes. Some systems lack some of these files. */
const SYSTEM_FILES = [
  "/proc/sys/kernel/random/boot_id",
  "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
  "/proc/sys/kernel/unprivileged_userns_clone",
  "/proc/sys/user/max_user_namespaces",
  "/proc/self/attr/current",
  "/proc/self/uid_map",
];
/** Links that name the container of this process. */
const NAMESPACES = ["/proc/self/ns/mnt", "/proc/self/ns/pid", "/proc/self/ns/user"];
const RIGHTS = /^(?:Cap\w+|NoNewPrivs|Seccomp\w*):.*$/gm;
const POLICIES = "/etc/apparmor.d";

interface KeptResult {
  /** Time of the trial, in milliseconds since 1970. */
  readonly at: number;
  /** Absent after a success. */
  readonly reason?: string;
}

/** The subject of a trial. `programs`: paths of programs. `options`: all options of the sandbox except its root. */
export interface TrialSubject {
  readonly programs: readonly string[];
  readonly options: unknown;
  readonly root: string;
}

/**
 * The trial of a sandbox. All processes of a user share its result in a file. A success is valid for all folders on
 * this machine, a failure only for its folder. The file only saves time: each sandbox runs a trial command before the
 * first command of its user. If the file wrongly reports a success, commands fail and never run outside.
 */
export class SandboxTrial {
  readonly #file: string;
  readonly #success: string;
  readonly #failure: string;

  constructor(file: string, { programs, options, root }: TrialSubject) {
    const subject = [machineNow(), [...programs, POLICIES].map(fileIdentity), options];
    this.#file = file;
    this.#success = digest(subject);
    this.#failure = digest([...subject, root]);
  }

  /** Returns the last result; undefined if there is none, or only an old failure. */
  find(): TrialResult | undefined {
    const results = this.#read();
    const { at = 0, reason } = results.get(this.#failure) ?? {};
    if (reason !== undefined && Math.abs(Date.now() - at) < LONGEST_FAILURE) return { works: false, reason };
    return results.has(this.#success) ? { works: true } : undefined;
  }

  /** Replaces the last result; undefined: forgets it. Without the file, the next process tries the sandbox again. */
  keep(result: TrialResult | undefined): void {
    const results = this.#read();
    const had = [this.#success, this.#failure].filter((key) => results.delete(key));
    if (result === undefined && had.length === 0) return;
    if (result?.works === true) results.set(this.#success, { at: Date.now() });
    if (result?.works === false) results.set(this.#failure, { at: Date.now(), reason: result.reason });
    const next = `${this.#file}.${process.pid}`;
    try {
      mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
      writeFileSync(next, JSON.stringify(Object.fromEntries([...results].slice(-MOST_RESULTS))), { mode: 0o600 });
      renameSync(next, this.#file);
    } catch {
      // The disk is full, or the folder is read-only, or the path is a folder.
      orNothing(() => rmSync(next, { force: true }));
    }
  }

  #read(): Map<string, KeptResult> {
    try {
      if (!isOurs(statSync(this.#file))) return new Map();
      const kept: unknown = JSON.parse(readFileSync(this.#file, "utf8"));
      return new Map(Object.entries(kept ?? {}).filter(([, result]) => isKeptResult(result)));
    } catch {
      // The file is missing or damaged.
      return new Map();
    }
  }
}

/** Describes what decides whether the system allows sandboxes, such as the kernel, its settings and the container. */
function machineNow(): unknown {
  return [
    ...[process.platform, process.arch, process.version, release(), process.getuid?.()],
    ...SYSTEM_FILES.map(systemText),
    ...NAMESPACES.map((link) => orNothing(() => readlinkSync(link))),
    ...(systemText("/proc/self/status")?.match(RIGHTS) ?? []),
  ];
}

/** Only this user may say that there is no sandbox. A file that is no file, such as a pipe, could block for ever. */
function isOurs(file: Stats): boolean {
  return file.isFile() && file.uid === (process.getuid?.() ?? file.uid) && (file.mode & 0o022) === 0;
}

function digest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64url");
}

function systemText(file: string): string | undefined {
  return orNothing(() => readFileSync(file, "utf8"));
}

function fileIdentity(path: string): unknown {
  return orNothing(() => {
    const { dev, ino, size, mtimeMs, ctimeMs, mode, uid } = statSync(path);
    return [path, dev, ino, size, mtimeMs, ctimeMs, mode, uid];
  });
}

function orNothing<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    // Not all systems have all these files.
    return undefined;
  }
}

function isKeptResult(value: unknown): value is KeptResult {
  if (typeof value !== "object" || value === null) return false;
  const { at, reason } = value as Partial<KeptResult>;
  return typeof at === "number" && (reason === undefined || typeof reason === "string");
}
