import { hostname, networkInterfaces } from "node:os";

/** The address that a server listens on. */
export interface ListenAddress {
  /** As configured: a name or address of this machine, or all addresses (`0.0.0.0`, `::`). */
  readonly host: string;
  readonly port: number;
}

const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];

/** Returns whether only programs on this machine can reach an address. */
export function isLoopbackAddress(host: string): boolean {
  return LOOPBACK.includes(inBrackets(host)) || /^127(\.\d{1,3}){3}$/.test(host);
}

/**
 * The values of `Host` that a server accepts: a foreign name that resolves to this machine must open nothing (S2). Accepts
 * loopback, the listening address and configured names. A server that listens on all addresses accepts all of the machine's.
 */
export function allowedHosts({ host, port }: ListenAddress, names: readonly string[] = []): ReadonlySet<string> {
  const own = isWildcard(host) ? thisMachine() : [inBrackets(host)];
  const hosts = [...LOOPBACK, ...own].map((name) => `${name}:${port}`);
  // Browsers omit the default port of the scheme.
  const withoutPort = port === 80 ? [...LOOPBACK, ...own] : [];
  return new Set([...hosts, ...withoutPort, ...names].map((name) => name.toLowerCase()));
}

/** Returns whether an `Origin` is a page that this server served under the `Host` of the same request. */
export function isOwnOrigin(origin: string, host: string): boolean {
  const [, authority] = /^https?:\/\/([^/?#@]+)$/.exec(origin.toLowerCase()) ?? [];
  return authority !== undefined && authority === host.toLowerCase();
}

/** Returns whether a host means all addresses of this machine. */
export function isWildcard(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

/** An address as written in a URL. */
export function inBrackets(host: string): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}

function thisMachine(): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  return [hostname(), ...addresses.map(({ address }) => inBrackets(address.replace(/%.*$/, "")))];
}
