import type { ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";

/** An attempt to break a rule of docs/security.md. */
export interface Attack {
  /** The number of the rule. */
  readonly rule: `S${number}`;
  /** The attacker's action in a few words. */
  readonly name: string;
  /** Seconds after which the attempt is ended and counts as broken. Default 120. */
  readonly seconds?: number;
  /**
   * Runs the attempt. Returns a sentence about what broke the rule, or undefined if the rule held. Throws `NotTried` if the
   * attempt is not possible here. Any other error counts as broken, so a faulty attack never looks like a successful defence.
   */
  attempt(place: Place): Promise<string | undefined>;
}

/** The place of an attempt. Everything in it is removed when the attempt ends. */
export interface Place {
  /** An empty folder, used as the workspace. */
  readonly folder: string;
  /** The home of a new user, with the folders of the program's settings and conversations. */
  readonly home: string;
  /** The environment of this user's programs. The attempt's own process has the same variables. */
  readonly env: Readonly<Record<string, string>>;
  /** Aborted when the time of the attempt is over. */
  readonly signal: AbortSignal;
  /** Runs the command `banyan` in the folder until it exits. */
  banyan(args: readonly string[], options?: RunOptions): Promise<Ended>;
  /** Starts the command. The command is killed with all its child processes when the attempt ends. */
  start(args: readonly string[], options?: Omit<RunOptions, "input">): Running;
  /** Registers a function to call when the attempt ends, in reverse order. */
  defer(undo: () => unknown): void;
}

export interface RunOptions {
  /** Variables in addition to those of the place. */
  readonly env?: Readonly<Record<string, string>>;
  /** The working folder. Default: the place's folder. */
  readonly cwd?: string;
  /** The standard input, which then ends; absent: empty. */
  readonly input?: string;
}

export type Running = ChildProcessByStdio<Writable, Readable, Readable>;

/** How a run of the command ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** An attack that cannot be tried here, with the reason. */
export class NotTried extends Error {
  override readonly name = "NotTried";
}
