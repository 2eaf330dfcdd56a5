import { hostname, networkInterfaces } from "node:os";

/** The address on which a server listens. */
export interface ListenAddress {
  /**
   * The address as the options contain it: a name or address of this machine, or all its addresses (`0.0.0.0`, `::`).
   */
  readonly host: string;
  readonly port: number;
}

const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];

/**
 * Returns whether a host name or address is reachable only from programs on this machine.
 * @example console.log(isLoopbackAddress("127.0.0.1"));
 */
export function isLoopbackAddress(host: string): boolean {
  return LOOPBACK.includes(inBrackets(host)) || /^127(\.\d{1,3}){3}$/.test(host);
}

/**
 * Returns the values of the `Host` header that a server accepts (S2): loopback names, the listening address, and the
 * configured `names`. A server that listens on all addresses accepts all addresses of the machine. Other names are
 * refused, because a hostile site could make its own name resolve to this machine.
 */
export function allowedHosts({ host, port }: ListenAddress, names: readonly string[] = []): ReadonlySet<string> {
  const own = isWildcard(host) ? thisMachine() : [inBrackets(host)];
  const hosts = [...LOOPBACK, ...own].map((name) => `${name}:${port}`);
  const withoutPort = port === 80 ? [...LOOPBACK, ...own] : [];
  return new Set([...hosts, ...withoutPort, ...names].map((name) => name.toLowerCase()));
}

/** Returns whether an `Origin` belongs to a page of this server, under the `Host` of the same request. */
export function isOwnOrigin(origin: string, host: string): boolean {
  const [, authority] = /^https?:\/\/([^/?#@]+)$/.exec(origin.toLowerCase()) ?? [];
  return authority !== undefined && authority === host.toLowerCase();
}

/** Returns whether a host means all addresses of this machine. */
export function isWildcard(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

/** Returns an address as URLs contain it: IPv6 addresses in brackets. */
export function inBrackets(host: string): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}

function thisMachine(): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  return [hostname(), ...addresses.map(({ address }) => inBrackets(address.replace(/%.*$/, "")))];
}
