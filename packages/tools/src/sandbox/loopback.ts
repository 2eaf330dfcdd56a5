import { spawn } from "node:child_process";
import type { Socket } from "node:net";
import { listeningPorts } from "./listening-ports.ts";
import type { NetworkEntrance } from "./messages.ts";

/**
 * The loopback that programs of a sandbox share, as the program outside sees it (S39). See {@link Sandbox.loopback}.
 * @example
 * const [port] = sandbox.loopback("conversation-1")?.ports() ?? [];
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
