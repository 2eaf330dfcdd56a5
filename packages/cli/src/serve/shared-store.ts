import { hostname } from "node:os";
import { StoreError } from "@banyan/core";
import { errorMessage } from "@banyan/core/shown";
import type { Driver } from "@banyan/server";
import type { PostgresStore, PostgresStoreOptions } from "@banyan/store/postgres";
import { UsageError } from "../program/problem.ts";
import { PORT, type ServeArguments } from "./arguments.ts";

const RESTATE = "restate=";

/** Opens the shared database and the driver that completes turns of dead nodes, if the user configured them. */
export async function sharedStore(args: ServeArguments, warn: (sentence: string) => void) {
  const url = args.store ?? (process.env.BANYAN_STORE || undefined);
  const runs = args.runs ?? (process.env.BANYAN_RUNS || undefined);
  if (url === undefined) {
    for (const name of ["address", "machine", "redrive", "drain"] as const)
      if (args[name] !== undefined) throw new UsageError(`--${name} needs --store.`);
    if (runs !== undefined) throw new UsageError("--runs (or BANYAN_RUNS) needs --store.");
    return undefined;
  }
  const driver = runs === undefined ? undefined : await loadDriver(runs, warn);
  if (args.address !== undefined && !/^https?:\/\/[^/]+\/?$/.test(args.address))
    throw new UsageError(`--address must be an address such as http://10.0.0.3:${PORT}, not ${args.address}.`);
  const machine = args.machine ?? hostname();
  const store = await databaseAt(url, { program: "banyan serve", machine });
  try {
    // Report database errors before the server starts.
    await store.list({ limit: 1 });
    return { store, machine, driver };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Creates a store without connecting. Rejects with `UsageError` for an invalid address. */
export async function databaseAt(url: string, options: PostgresStoreOptions): Promise<PostgresStore> {
  const { postgresStore } = await import("@banyan/store/postgres");
  try {
    return postgresStore(url, options);
  } catch (error) {
    throw error instanceof StoreError ? new UsageError(error.message, { cause: error }) : error;
  }
}

/**
 * The driver named by `--runs` or BANYAN_RUNS. Its package is optional, so it is loaded only here. Throws `UsageError`.
 */
async function loadDriver(runs: string, log: (sentence: string) => void): Promise<Driver> {
  if (!runs.startsWith(RESTATE))
    throw new UsageError(`--runs must be restate=ADDRESS, such as restate=http://127.0.0.1:8080, not ${runs}.`);
  const { readRestate, RestateDriver } = await loaded();
  try {
    return new RestateDriver(readRestate(runs.slice(RESTATE.length)), { log });
  } catch (error) {
    throw new UsageError(`--runs: ${errorMessage(error)}`, { cause: error });
  }
}

async function loaded() {
  try {
    return await import("@banyan/restate");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND")) throw error;
    const how = "npm install @restatedev/restate-sdk@1 (with --global if banyan is installed with --global)";
    throw new UsageError(`--runs restate needs the package @restatedev/restate-sdk: ${how}.`, { cause: error });
  }
}
