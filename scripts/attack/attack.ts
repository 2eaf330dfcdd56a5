import type { ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";

/** An attempt to break a rule of docs/security.md. */
export interface Attack {
  readonly rule: `S${number}`;
  readonly name: string;
  /** Seconds after which the attempt is ended and counts as broken. Default 120. */
  readonly seconds?: number;
  /**
   * Runs the attempt. Returns a sentence about what broke the rule; undefined if the rule held. Throws `NotTried` if
   * the attempt is not possible here. Any other error counts as broken, so a faulty attack never looks like a
   * successful defence.
   */
  attempt(place: Place): Promise<string | undefined>;
}

/** The folders and programs of one attempt, which are removed at its end. */
export interface Place {
  readonly folder: string;
  readonly home: string;
  /** Environment of this user's programs, and of the attempt's own process. */
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Runs the command `banyan` in the folder until it exits. */
  banyan(args: readonly string[], options?: RunOptions): Promise<Ended>;
  /** Starts the command. It is killed with all its child processes when the attempt ends. */
  start(args: readonly string[], options?: Omit<RunOptions, "input">): Running;
  /** Registers a function to call when the attempt ends, in reverse order. */
  defer(undo: () => unknown): void;
}

export interface RunOptions {
  /** Variables in addition to `env` of the place. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly input?: string;
}

export type Running = ChildProcessByStdio<Writable, Readable, Readable>;

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** An attack that cannot be tried here, with the reason. */
export class NotTried extends Error {
  override readonly name = "NotTried";
}
