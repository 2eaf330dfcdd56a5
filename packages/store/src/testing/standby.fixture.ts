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

/** A server, and one that follows it: what the first acknowledges as durable, the second has. */
export interface Pair {
  readonly primary: LocalPostgres;
  readonly standby: LocalPostgres;
}

/** Makes a database in a folder that is not there yet, so that pairs can be started of it. */
export async function makePairs(folder: string): Promise<void> {
  makeFolder(folder);
  makeFolder(join(folder, "made"));
  await stopPostgres(await startPostgres(join(folder, "made")));
}

/** Starts a pair of empty servers in that folder, of a name that it has not. */
export async function startPair(folder: string, name: string): Promise<Pair> {
  const places = ["primary", "standby"].map((role) => join(folder, `${name} ${role}`));
  for (const place of places) {
    mkdirSync(place);
    // What was stopped in order is whole: a copy of it needs no pg_basebackup.
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

/** The first is gone, and the second takes its place. Resolves when it takes writes. */
export async function failOver({ primary, standby }: Pair): Promise<void> {
  await killPostgres(primary);
  const client = new pg.Client({ connectionString: standby.url });
  await client.connect();
  await client.query("SELECT pg_promote()");
  await client.end();
}

/** Ends a server in order, with what clients have under way rolled back. */
async function stopPostgres({ process: pid }: LocalPostgres): Promise<void> {
  process.kill(pid, "SIGINT");
  while (isAlive(pid)) await sleep(10);
}
