import { lookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { WebError } from "./error.ts";
import { isPublicAddress } from "./public-address.ts";

/** Which machines may be talked to, and how they are found. */
export interface Reach {
  /** Whether an IP address may be connected to. Default: `isPublicAddress`. */
  readonly allowAddress?: (address: string) => boolean;
  /** The IP addresses of a host. Default: those that the system knows. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
}

async function resolveBySystem(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/** Throws a `WebError` when the host of an address is written as an IP address that may not be connected to. */
export function checkLiteral({ hostname }: URL, { allowAddress = isPublicAddress }: Reach): void {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0 && !allowAddress(host)) throw refusal(hostname, host);
}

/**
 * Looks a host up for one connection: the addresses that were checked are those that are connected to, so that a name
 * which changes its mind between the check and the connection gains nothing. One bad address spoils the host.
 */
export function checkedLookup({ allowAddress = isPublicAddress, resolve = resolveBySystem }: Reach): LookupFunction {
  return (host, { all, family }, callback) => {
    resolve(host).then(
      (addresses) => {
        const bad = addresses.find((address) => !allowAddress(address));
        if (bad !== undefined) return callback(refusal(host, bad), "", 0);
        const found = addresses
          .map((address) => ({ address, family: isIP(address) }))
          .filter((one) => (family !== 4 && family !== 6) || one.family === family);
        const [first] = found;
        if (first === undefined) return callback(new WebError("network", `${host} has no address.`), "", 0);
        return all ? callback(null, found) : callback(null, first.address, first.family);
      },
      (error) => callback(error, "", 0),
    );
  };
}

function refusal(host: string, address: string): WebError {
  const where = host === address || host === `[${address}]` ? host : `${host} (${address})`;
  return new WebError(
    "forbidden",
    `${where} is not a machine of the public internet, and is not fetched. Use the shell for servers of your own.`,
  );
}
