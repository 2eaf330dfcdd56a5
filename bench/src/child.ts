import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { Assignment, Outcome } from "./subject.ts";

/** Milliseconds after which a subject is ended. */
const PATIENCE = 45 * 60_000;

/** Measures a subject in a separate process. With `profiles`, its CPU profile is written to that directory. */
export async function inOwnProcess(assignment: Assignment, profiles?: string): Promise<Outcome> {
  const { measure, subject } = assignment;
  const name = `${measure}-${subject.replaceAll(/\W+/g, "-")}.cpuprofile`;
  const profiling =
    profiles === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profiles}`, `--cpu-prof-name=${name}`];
  const child = fork(new URL("./subject.ts", import.meta.url), [JSON.stringify(assignment)], {
    execArgv: ["--expose-gc", ...profiling],
    timeout: PATIENCE,
  });
  let outcome: Outcome | undefined;
  child.once("message", (message) => {
    outcome = message as Outcome;
  });
  const [code, signal] = await once(child, "close");
  return outcome ?? { problem: `Its process ended with ${signal ?? `code ${code}`} and without a result.` };
}

/** The mock provider in a separate process. */
export class Provider {
  /** The address without a path. */
  readonly address: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, address: string) {
    this.#child = child;
    this.address = address;
  }

  static async start(): Promise<Provider> {
    const child = fork(new URL("./provider/main.ts", import.meta.url));
    const [port] = (await once(child, "message")) as [number];
    return new Provider(child, `http://127.0.0.1:${port}`);
  }

  [Symbol.dispose](): void {
    this.#child.kill();
  }
}
