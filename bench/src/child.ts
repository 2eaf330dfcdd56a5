import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { Sample } from "./measure.ts";
import type { Assignment } from "./subject.ts";

/** Measures a subject in a process of its own. With `profiles`, a CPU profile of it is left in that directory. */
export async function inOwnProcess(assignment: Assignment, profiles?: string): Promise<Sample> {
  const { measure, subject } = assignment;
  const name = `${measure}-${subject.replaceAll(/\W+/g, "-")}.cpuprofile`;
  const profiling =
    profiles === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profiles}`, `--cpu-prof-name=${name}`];
  const child = fork(new URL("./subject.ts", import.meta.url), [JSON.stringify(assignment)], {
    execArgv: ["--expose-gc", ...profiling],
  });
  let sample: Sample | undefined;
  child.once("message", (message) => {
    sample = message as Sample;
  });
  await once(child, "close");
  if (!sample) throw new Error(`${subject} ended without a result in ${measure}: see above.`);
  return sample;
}

/** The mock provider, in a process of its own. */
export class Provider {
  /** Its address, without a path. */
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
