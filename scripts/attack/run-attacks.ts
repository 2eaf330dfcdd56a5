import { fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { killFamily } from "./place.ts";
import type { Outcome, Report, Tried } from "./tried.ts";

const ATTEMPTS = fileURLToPath(new URL("attempts.ts", import.meta.url));

export interface RunOptions {
  /** Maximum number of concurrent files. Default: the number of cores. */
  readonly atOnce?: number;
  readonly onTried?: (tried: Tried) => void;
}

/**
 * Runs the attacks of files, each file in a separate process. Returns the results in the order of the files. An attempt
 * that hangs, throws or ends its process counts as broken, and the later attacks still run.
 */
export async function runAttacks(files: readonly URL[], options: RunOptions = {}): Promise<readonly Tried[]> {
  const { atOnce = availableParallelism(), onTried = () => {} } = options;
  const results: (readonly Tried[])[] = [];
  const waiting = files.entries();
  const work = async () => {
    for (const [place, file] of waiting) results[place] = await attacksOf(file, onTried);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return results.flat();
}

/** Starts a new process after each attempt that ended the process. */
async function attacksOf(file: URL, onTried: (tried: Tried) => void): Promise<readonly Tried[]> {
  const tried: Tried[] = [];
  for (;;) {
    const { found, ended, stopped } = await attemptsFrom(file, tried.length);
    for (const [index, outcome] of ended.entries()) {
      const attack = found?.[tried.length];
      if (attack === undefined) throw new Error(`${file} tells of attack ${index}, which it does not have.`);
      tried.push({ rule: attack.rule, name: attack.name, outcome });
      onTried(tried[tried.length - 1] as Tried);
    }
    if (found === undefined) throw new Error(`${fileURLToPath(file)} cannot be loaded: ${stopped}`);
    if (tried.length === found.length) return tried;
  }
}

interface Attempts {
  readonly found: Extract<Report, { type: "found" }>["attacks"] | undefined;
  /** The results in order. The last one is of the attempt that ended the process. */
  readonly ended: readonly Outcome[];
  readonly stopped: string;
}

function attemptsFrom(file: URL, first: number): Promise<Attempts> {
  // A separate process group, so that leftover processes of an attempt can be ended too.
  const child = fork(ATTEMPTS, [file.href, String(first)], {
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const { promise, resolve } = Promise.withResolvers<Attempts>();
  let found: Attempts["found"];
  const ended: Outcome[] = [];
  let isTrying = false;
  let stopped = "";
  let said = "";
  let timer: NodeJS.Timeout | undefined;
  const hear = (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-2000);
  };
  child.stdout?.on("data", hear);
  child.stderr?.on("data", hear);
  child.on("message", (report: Report) => {
    switch (report.type) {
      case "found":
        found = report.attacks;
        break;
      case "begins": {
        isTrying = true;
        const seconds = found?.[report.index]?.seconds ?? 0;
        timer = setTimeout(() => {
          stopped = `the attack did not end within ${seconds} seconds`;
          killFamily(child.pid);
        }, seconds * 1000);
        break;
      }
      case "ended":
        isTrying = false;
        clearTimeout(timer);
        ended.push(report.outcome);
        break;
      default:
        report satisfies never;
    }
  });
  child.on("close", (code, signal) => {
    clearTimeout(timer);
    killFamily(child.pid);
    if (stopped === "") stopped = `its process ended with ${signal ?? code}: ${said.trim()}`;
    if (isTrying) ended.push({ type: "broken", why: stopped });
    resolve({ found, ended, stopped });
  });
  return promise;
}
