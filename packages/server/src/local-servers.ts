import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A running Banyan server on this machine, as its file describes it. */
export interface LocalBanyanServer {
  /** For example `http://127.0.0.1:4180`. */
  readonly address: string;
  readonly process: number;
  readonly workspace: string;
  /** The token of the owner, who has all rights. */
  readonly token: string;
}

/**
 * Writes a file about a running server for other programs of the same user (mode 0600), until the result is disposed
 * of. The address and its token are in one file, so that no program sends the token elsewhere (S3).
 */
export function announce(directory: string, server: LocalBanyanServer): Disposable {
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

/** Returns this user's running servers on this machine. Removes the files of dead servers. */
export function localBanyanServers(directory: string): LocalBanyanServer[] {
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

function serverIn(file: string): LocalBanyanServer | undefined {
  try {
    const { address, process, workspace, token } = JSON.parse(readFileSync(file, "utf8"));
    const whole =
      [address, workspace, token].every((text) => typeof text === "string") && Number.isSafeInteger(process);
    return whole ? { address, process, workspace, token } : undefined;
  } catch {
    // A process died while writing the file, or the file is gone by now.
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
