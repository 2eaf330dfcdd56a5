import { homedir } from "node:os";
import { resolve } from "node:path";
import type { HostFlags, HostOptions } from "@banyan/host";
import type { Arguments } from "./arguments.ts";

/** The directory that a command line is about. */
export function directoryOf(args: Arguments): string {
  return resolve(args.cwd ?? ".");
}

/** What a command line means for the host. */
export function hostOptions(args: Arguments, canAsk: boolean, signal: AbortSignal, trusted = false): HostOptions {
  const { model, temperature, maxTokens, allow, deny, rules, approval, unconfined, memory, instructions, limits } =
    args;
  return {
    cwd: directoryOf(args),
    env: process.env,
    home: homedir(),
    flags: {
      ...{ model, temperature, maxTokens, allow, deny, rules, approval, unconfined, instructions, limits },
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
