import { ownCommand } from "@banyan/host/own-command";
import { UsageError } from "../program/problem.ts";
import { userServers } from "../program/server-announcement.ts";

/** The address of a server, and the token for it. */
export interface ServerDoor {
  readonly address: string;
  readonly token: string;
  /** Workspace of the server, if the server belongs to this user on this machine. */
  readonly workspace?: string;
}

/**
 * Finds a server: by its address, by its directory, or as the only server of this machine. Sends a stored token only to
 * the address that the token belongs to (S3). Throws `UsageError`.
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
    const ownToken = token || known?.token;
    if (!ownToken) throw new UsageError(`Set BANYAN_TOKEN to the token of the server at ${origin}.`);
    return { address: origin, token: ownToken, ...(known && { workspace: known.workspace }) };
  }
  const inDirectory = here.filter(({ workspace }) => workspace === directory);
  const [server, ...others] = inDirectory.length > 0 ? inDirectory : here;
  if (!server)
    throw new UsageError(
      `No banyan server runs on this machine. Start a server with ${ownCommand("serve")}, or add the address of a server.`,
    );
  if (others.length > 0)
    throw new UsageError(
      `Several servers run on this machine. Add the address of one server: ${[server, ...others].map(({ address, workspace }) => `${address} (${workspace})`).join(", ")}.`,
    );
  return server;
}

function originOf(address: string): string {
  const url = URL.parse(/^https?:\/\//i.test(address) ? address : `http://${address}`);
  if (!url) throw new UsageError(`'${address}' is not an address. Write it like http://127.0.0.1:4180.`);
  if (url.search !== "" || url.username !== "" || url.password !== "")
    throw new UsageError("Do not put the token into the address. Set BANYAN_TOKEN instead.");
  return url.origin;
}
