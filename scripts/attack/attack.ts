import type { ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";

/** One try to break a rule of docs/security.md. */
export interface Attack {
  /** The number of the rule. */
  readonly rule: `S${number}`;
  /** What an attacker does, in a few words. */
  readonly name: string;
  /** Seconds after which the attempt is ended and counts as broken; 120 by default. */
  readonly seconds?: number;
  /**
   * Tries it. Answers in one sentence what broke through, or nothing when the rule held. Throws `NotTried` where it cannot be
   * tried; whatever else it throws counts as broken, so that an attack that does not work is never taken for one that failed.
   */
  attempt(place: Place): Promise<string | undefined>;
}

/** Where an attempt is made. All of it goes away when the attempt ends. */
export interface Place {
  /** An empty folder, to be the workspace. */
  readonly folder: string;
  /** The home of a user who has nothing yet. Inside lie the folders of the program's settings and conversations. */
  readonly home: string;
  /** The variables of a program that this user runs. The attempt's own process has the same ones. */
  readonly env: Readonly<Record<string, string>>;
  /** Aborted when the time of the attempt is over. */
  readonly signal: AbortSignal;
  /** Runs the command `banyan` to its end, in the folder. */
  banyan(args: readonly string[], options?: RunOptions): Promise<Ended>;
  /** Starts it; it is killed, with all that it started, when the attempt ends. */
  start(args: readonly string[], options?: Omit<RunOptions, "input">): Running;
  /** Does something when the attempt ends, the last of all first. */
  defer(undo: () => unknown): void;
}

export interface RunOptions {
  /** Variables on top of those of the place. */
  readonly env?: Readonly<Record<string, string>>;
  /** Where it runs instead of the folder. */
  readonly cwd?: string;
  /** What comes from standard input, which then ends; nothing when absent. */
  readonly input?: string;
}

export type Running = ChildProcessByStdio<Writable, Readable, Readable>;

/** How a run of the command ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Says that an attack cannot be tried here, and why: what it needs is not there. */
export class NotTried extends Error {
  override readonly name = "NotTried";
}
