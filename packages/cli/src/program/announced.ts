import { homedir } from "node:os";
import { join } from "node:path";
import { directories } from "@banyan/host";
import { announce, type LocalBanyanServer, localServers } from "@banyan/server/local-servers";

/** Announces a server to other programs of this user, until the result is disposed of. */
export function announced(server: LocalBanyanServer): Disposable {
  return announce(directory(), server);
}

/** The servers of this user on this machine. */
export function serversHere(): LocalBanyanServer[] {
  return localServers(directory());
}

/** The server with this process id. */
export function serverOf(process: number): LocalBanyanServer | undefined {
  return serversHere().find((server) => server.process === process);
}

function directory(): string {
  return join(directories(process.env, homedir()).state, "servers");
}
