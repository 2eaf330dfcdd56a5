import { ownCommand } from "@banyan/host/own-command";
import type { LocalBanyanServer } from "@banyan/server/local-servers";
import { userServers } from "../program/announced.ts";
import { UsageError } from "../program/problem.ts";

/** Address and token of a server. */
export interface ServerDoor {
  /** Origin, such as `http://127.0.0.1:4180`. */
  readonly address: string;
  readonly token: string;
  /** Workspace of the server, if it is this user's server on this machine. */
  readonly workspace?: string;
}

/**
 * Finds the server: by its address, or by the directory that it works in, or as the only server of this machine. A
 * stored token is sent only to the address that it belongs to (S3). Throws `UsageError`.
 */
export function findServer(
  address: string | undefined,
  directory: string,
  token = process.env.BANYAN_TOKEN,
): ServerDoor {
  const here = userServers();
  if (address !== undefined) {
    const origin = originOf(address);
    const known = here.find((server) => originOf(server.address) === origin);
    const shown = token || known?.token;
    if (!shown) throw new UsageError(`Set BANYAN_TOKEN to the token of the server at ${origin}.`);
    return { address: origin, token: shown, ...(known && { workspace: known.workspace }) };
  }
  const inDirectory = here.filter(({ workspace }) => workspace === directory);
  const [server, ...others] = inDirectory.length > 0 ? inDirectory : here;
  if (!server)
    throw new UsageError(
      `No banyan server runs on this machine. Start one with ${ownCommand("serve")}, or give an address.`,
    );
  if (others.length > 0)
    throw new UsageError(`Several servers run here. Name one: ${[server, ...others].map(serverLabel).join(", ")}.`);
  return server;
}

function originOf(address: string): string {
  const url = URL.parse(/^https?:\/\//i.test(address) ? address : `http://${address}`);
  if (!url) throw new UsageError(`'${address}' is not an address. Write it like http://127.0.0.1:4180.`);
  if (url.search !== "" || url.username !== "" || url.password !== "")
    throw new UsageError("Do not put the token into the address. Set BANYAN_TOKEN instead.");
  return url.origin;
}

function serverLabel({ address, workspace }: LocalBanyanServer): string {
  return `${address} (${workspace})`;
}
