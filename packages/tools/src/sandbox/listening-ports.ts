import { readFileSync } from "node:fs";

/** The state of a listening socket in `/proc/net/tcp`. */
const LISTENS = "0A";

/** Returns the TCP ports on which programs listen in the network of a process, with the loopback address to use. */
export function listeningPorts(process: number): ReadonlyMap<number, "127.0.0.1" | "[::1]"> {
  return new Map([
    ...portsOf(`/proc/${process}/net/tcp6`).map((port) => [port, "[::1]"] as const),
    ...portsOf(`/proc/${process}/net/tcp`).map((port) => [port, "127.0.0.1"] as const),
  ]);
}

function portsOf(table: string): number[] {
  return rowsOf(table).flatMap((row) => {
    const [, address = "", , state] = row.trim().split(/\s+/);
    const port = address.split(":")[1];
    return state === LISTENS && port !== undefined ? [Number.parseInt(port, 16)] : [];
  });
}

function rowsOf(table: string): string[] {
  try {
    return readFileSync(table, "latin1").split("\n").slice(1);
  } catch {
    // The process has ended, or the kernel has no IPv6.
    return [];
  }
}
