import { homedir } from "node:os";
import { resolve } from "node:path";
import type { Limits } from "@banyan/core";
import type { HostOptions } from "@banyan/host";
import type { Arguments } from "./arguments.ts";

/** The directory that a command line is about. */
export function directoryOf(args: Arguments): string {
  return resolve(args.cwd ?? ".");
}

/** What a command line means for the host. */
export function hostOptions(args: Arguments, canAsk: boolean, signal: AbortSignal, trusted = false): HostOptions {
  const { model, temperature, maxTokens, allow, deny, rules, approval, instructions } = args;
  return {
    cwd: directoryOf(args),
    env: process.env,
    home: homedir(),
    flags: { model, temperature, maxTokens, limits: limitsOf(args), allow, deny, rules, approval, instructions },
    canAsk,
    trusted,
    signal,
  };
}

function limitsOf({ maxTurns, maxCost, timeout }: Arguments): Limits {
  return {
    ...(maxTurns === undefined ? {} : { steps: maxTurns }),
    ...(maxCost === undefined ? {} : { cost: maxCost }),
    ...(timeout === undefined ? {} : { time: timeout }),
  };
}
