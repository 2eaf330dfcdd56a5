import { lookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { WebError } from "./error.ts";
import { isInLoopbackRange, isPublicAddress } from "./public-address.ts";

/** The allowed machines, and the function that resolves host names. See {@link WebFetchOptions}. */
export interface NetworkReach {
  /** Returns whether a connection to an IP address is allowed. Default: `isPublicAddress`. */
  readonly allowAddress?: (address: string) => boolean;
  /** Returns the IP addresses of a host. Default: the system's resolver. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
}

/** Returns the IP addresses of a host by the system's resolver. */
export async function resolveBySystem(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/** Returns whether the host of a URL is this machine: a loopback address, `localhost`, or a name inside `localhost`. */
export function isLoopbackHost(hostname: string): boolean {
  return /^(?:.*\.)?localhost\.?$/i.test(hostname) || isInLoopbackRange(hostname.replace(/^\[|\]$/g, ""));
}

/** Throws a `WebError` if the host in the address is an IP address that is not allowed. */
export function checkLiteral({ hostname }: URL, { allowAddress = isPublicAddress }: NetworkReach): void {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0 && !allowAddress(host)) throw privateAddressError(hostname, host);
}

/**
 * Resolves a host for one connection. Rejects if any of its addresses is not allowed. The connection uses exactly the
 * checked addresses. The host therefore cannot change between check and connection.
 */
export function checkedLookup({
  allowAddress = isPublicAddress,
  resolve = resolveBySystem,
}: NetworkReach): LookupFunction {
  return (host, { all, family }, callback) => {
    resolve(host).then(
      (addresses) => {
        const bad = addresses.find((address) => !allowAddress(address));
        if (bad !== undefined) return callback(privateAddressError(host, bad), "", 0);
        const found = addresses
          .map((address) => ({ address, family: isIP(address) }))
          .filter((one) => (family !== 4 && family !== 6) || one.family === family);
        const [first] = found;
        if (first === undefined) return callback(new WebError("network", `The host ${host} has no IP address.`), "", 0);
        return all ? callback(null, found) : callback(null, first.address, first.family);
      },
      (error) => callback(error, "", 0),
    );
  };
}

function privateAddressError(host: string, address: string): WebError {
  const where = host === address || host === `[${address}]` ? host : `${host} (${address})`;
  return new WebError(
    "forbidden",
    `${where} is not on the public internet, so it was not fetched. Use the shell for your own servers.`,
  );
}
