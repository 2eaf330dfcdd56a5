import { homedir } from "node:os";
import { join } from "node:path";
import { directories } from "@banyan/host";
import { announce, type LocalBanyanServer, localBanyanServers } from "@banyan/server/local-servers";

/** Announces a server to other programs of this user, until the result is disposed of. */
export function announceServer(server: LocalBanyanServer): Disposable {
  return announce(directory(), server);
}

export function userServers(): LocalBanyanServer[] {
  return localBanyanServers(directory());
}

export function serverOfProcess(process: number): LocalBanyanServer | undefined {
  return userServers().find((server) => server.process === process);
}

function directory(): string {
  return join(directories(process.env, homedir()).state, "servers");
}
