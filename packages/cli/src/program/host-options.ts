import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import type { JsonSchema } from "@banyan/core";
import { pickOptions } from "@banyan/core/conversation";
import { errorMessage } from "@banyan/core/shown";
import { type HostFlags, type HostOptions, TrustRecord } from "@banyan/host";
import type { AgentFlags } from "./agent-flags.ts";
import { UsageError } from "./problem.ts";
import type { Arguments } from "./prompt-arguments.ts";

/** Returns the folder in which a command works: `--cwd`, or the current folder. */
export function commandDirectory(args: Arguments): string {
  return resolve(args.cwd ?? ".");
}

export function hostFlags(flags: AgentFlags): HostFlags {
  return pickOptions<HostFlags>(flags, {
    model: true,
    allow: true,
    deny: true,
    network: true,
    rules: true,
    approval: true,
    unconfined: true,
  });
}

export function hostOptions(args: Arguments, canAsk: boolean, signal: AbortSignal, trusted = false): HostOptions {
  const { model, numbers, allow, deny, network, rules, approval, unconfined, memory, instructions } = args;
  return {
    cwd: commandDirectory(args),
    env: process.env,
    home: homedir(),
    flags: {
      model,
      numbers,
      allow,
      deny,
      network,
      rules,
      approval,
      unconfined,
      instructions,
      // A printed turn uses no memory unless the user asks for it (S26).
      ...(canAsk && memory !== true ? {} : { memory: memory === true }),
    },
    canAsk,
    trusted,
    signal,
  };
}

/** Reads the JSON Schema for a task's result, if `--output-schema` names one (B44). Throws `UsageError`. */
export function outputOption({ outputSchema: file }: Arguments): { readonly output?: JsonSchema } {
  if (file === undefined) return {};
  const schema = readFlagFile(file);
  if (schema === null || typeof schema !== "object" || !("type" in schema) || schema.type !== "object")
    throw new UsageError(`${file} is not the JSON Schema of an object: it needs "type": "object".`);
  return { output: schema as JsonSchema };
}

function readFlagFile(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    const why = errorMessage(error);
    throw new UsageError(`The output schema ${file} cannot be read: ${why}.`, { cause: error });
  }
}

/**
 * Returns whether a command without a user may use the project's settings, servers, agents and instructions (S5). The
 * user decides this in a chat, or with `trust`, which stores the decision. `say` explains a refusal.
 */
export function isProjectTrusted(
  { cwd, trust = false }: { readonly cwd: string; readonly trust: boolean | undefined },
  say: (sentence: string) => void,
): boolean {
  const record = new TrustRecord({ env: process.env, home: homedir() });
  if (trust) {
    record.trust(cwd);
    return true;
  }
  const { state } = record.trustOf(cwd);
  if (state === "unknown" || state === "changed")
    say("This project's settings and instructions are not used. --trust turns them on from now on.");
  return state === "trusted";
}
