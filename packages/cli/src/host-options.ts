import { homedir } from "node:os";
import { resolve } from "node:path";
import type { Limits } from "@banyan/core";
import type { HostFlags, HostOptions } from "@banyan/host";
import type { Arguments } from "./arguments.ts";

/** The directory that a command line is about. */
export function directoryOf(args: Arguments): string {
  return resolve(args.cwd ?? ".");
}

/** What a command line means for the host. */
export function hostOptions(args: Arguments, canAsk: boolean, signal: AbortSignal, trusted = false): HostOptions {
  const { model, temperature, maxTokens, allow, deny, rules, approval, unconfined, memory, instructions } = args;
  return {
    cwd: directoryOf(args),
    env: process.env,
    home: homedir(),
    flags: {
      ...{ model, temperature, maxTokens, allow, deny, rules, approval, unconfined, instructions },
      limits: limitsOf(args),
      connection: connectionOf(args),
      // A printed turn recalls and keeps nothing, unless it is told to (S26).
      ...(canAsk && memory !== true ? {} : { memory: memory === true }),
    },
    canAsk,
    trusted,
    signal,
  };
}

function connectionOf({ silence, retryTime, attempts }: Arguments): NonNullable<HostFlags["connection"]> {
  return {
    ...(silence === undefined ? {} : { silence: silence / 1_000 }),
    ...(retryTime === undefined ? {} : { retryTime: retryTime / 1_000 }),
    ...(attempts === undefined ? {} : { attempts }),
  };
}

function limitsOf({ maxTurns, maxCost, timeout }: Arguments): Limits {
  return {
    ...(maxTurns === undefined ? {} : { steps: maxTurns }),
    ...(maxCost === undefined ? {} : { cost: maxCost }),
    ...(timeout === undefined ? {} : { time: timeout }),
  };
}
