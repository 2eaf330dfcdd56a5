import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import type { NetworkEntrance } from "./messages.ts";

/** The state of a listening socket in `/proc/net/tcp`. */
const LISTENS = "0A";

/**
 * The loopback network that programs of a sandbox share, as the program outside sees it (S39). See
 * {@link Sandbox.loopback}.
 * @example
 * const opening = await openSandbox({ root: "." });
 * if (opening.available) console.log(opening.sandbox.loopback("conversation-1")?.ports());
 */
export interface SharedLoopback {
  /** Returns the TCP ports on which the programs listen, in ascending order. */
  ports(): readonly number[];
  /**
   * Connects to a port on which a program listens; undefined if none listens there. Errors of the connection are errors
   * of the socket. The connection never reaches the machine's own loopback.
   */
  connect(port: number): Socket | undefined;
}

/** The shared loopback of a network with this entrance. `socat` connects inside the network. */
export function sharedLoopback({ enter, process, relays }: NetworkEntrance, socat: string): SharedLoopback {
  const listening = () => [...listeningPorts(process)].filter(([port]) => !relays.includes(port));
  return {
    ports: () =>
      listening()
        .map(([port]) => port)
        .toSorted((one, other) => one - other),
    connect(port) {
      const address = new Map(listening()).get(port);
      if (address === undefined) return undefined;
      const [file = "", ...args] = enter;
      const family = address === "[::1]" ? "TCP6" : "TCP4";
      const child = spawn(file, [...args, socat, "FD:3", `${family}:${address}:${port}`], {
        stdio: ["ignore", "ignore", "ignore", "pipe"],
        env: {},
      });
      child.unref();
      const socket = child.stdio[3] as Socket;
      child.once("error", (error) => socket.destroy(error));
      return socket;
    },
  };
}

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
