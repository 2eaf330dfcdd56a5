import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import {
  isAlive,
  killPostgres,
  type LocalPostgres,
  makeFolder,
  restartPostgres,
  startPostgres,
} from "./postgres-server.fixture.ts";

/** A server and its synchronous standby: all durable writes of the primary are on the standby. */
export interface Pair {
  readonly primary: LocalPostgres;
  readonly standby: LocalPostgres;
}

/** Creates a database in a new folder, from which pairs can be started. */
export async function makePairs(folder: string): Promise<void> {
  makeFolder(folder);
  makeFolder(join(folder, "made"));
  await stopPostgres(await startPostgres(join(folder, "made")));
}

/** Starts a pair of empty servers in that folder under a new name. */
export async function startPair(folder: string, name: string): Promise<Pair> {
  const places = ["primary", "standby"].map((role) => join(folder, `${name} ${role}`));
  for (const place of places) {
    mkdirSync(place);
    // A cleanly stopped database is complete: copying needs no pg_basebackup.
    const { status, stderr } = spawnSync("cp", ["-a", join(folder, "made", "data"), place], { encoding: "utf8" });
    if (status !== 0) throw new Error(stderr);
  }
  const [first = "", second = ""] = places;
  writeFileSync(join(second, "data", "standby.signal"), "");
  const primary = await restartPostgres(first, 0, ["-c", "synchronous_standby_names=*"]);
  const { port } = new URL(primary.url);
  const following = `primary_conninfo=host=127.0.0.1 port=${port} user=postgres`;
  const standby = await restartPostgres(second, 0, ["-c", following, "-c", "synchronous_standby_names="]);
  return { primary, standby };
}

/** Kills the primary and promotes the standby. Resolves when the standby accepts writes. */
export async function failOver({ primary, standby }: Pair): Promise<void> {
  await killPostgres(primary);
  const client = new pg.Client({ connectionString: standby.url });
  await client.connect();
  await client.query("SELECT pg_promote()");
  await client.end();
}

/** Stops a server cleanly. Running transactions of clients are rolled back. */
async function stopPostgres({ process: pid }: LocalPostgres): Promise<void> {
  process.kill(pid, "SIGINT");
  while (isAlive(pid)) await sleep(10);
}
