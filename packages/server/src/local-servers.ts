import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A server that runs on this machine, as it says of itself. */
export interface LocalServer {
  /** As in `http://127.0.0.1:4180`. */
  readonly address: string;
  readonly process: number;
  readonly workspace: string;
  /** Of whoever may do everything. */
  readonly token: string;
}

/**
 * Writes down that a server runs, for other programs of the same user (mode 0600), until the result is disposed of. Its
 * token stands there and nowhere else, so that it is sent to no address but this one (S3).
 */
export function announce(directory: string, server: LocalServer): Disposable {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, `${server.process}.json`);
  rmSync(file, { force: true });
  writeFileSync(file, JSON.stringify(server), { mode: 0o600, flag: "wx" });
  return {
    [Symbol.dispose]() {
      rmSync(file, { force: true });
    },
  };
}

/** The servers of this user on this machine that live. What dead ones left is cleared away. */
export function localServers(directory: string): LocalServer[] {
  return filesIn(directory).flatMap((name) => {
    const file = join(directory, name);
    const server = serverIn(file);
    if (server && lives(server.process)) return [server];
    rmSync(file, { force: true });
    return [];
  });
}

function filesIn(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => /^\d+\.json$/.test(name));
  } catch {
    // No server has run here yet.
    return [];
  }
}

function serverIn(file: string): LocalServer | undefined {
  try {
    const { address, process, workspace, token } = JSON.parse(readFileSync(file, "utf8"));
    const whole =
      [address, workspace, token].every((text) => typeof text === "string") && Number.isSafeInteger(process);
    return whole ? { address, process, workspace, token } : undefined;
  } catch {
    // Half written by a process that is gone, or gone itself in the meantime.
    return undefined;
  }
}

function lives(process_: number): boolean {
  try {
    process.kill(process_, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
