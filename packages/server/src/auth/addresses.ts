import { hostname, networkInterfaces } from "node:os";

/** The address that a server listens on. */
export interface Listening {
  /** As it was asked for: a name or an address of this machine, or all of them (`0.0.0.0`, `::`). */
  readonly host: string;
  readonly port: number;
}

const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];

/** Whether only programs on this machine can reach an address. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.includes(inBrackets(host)) || /^127(\.\d{1,3}){3}$/.test(host);
}

/**
 * The values of `Host` that a server answers to, so that a name which somebody else made point here opens nothing (S2):
 * loopback, what it listens on, the machine's own name and addresses when it listens on all, and names that were allowed.
 */
export function allowedHosts({ host, port }: Listening, names: readonly string[] = []): ReadonlySet<string> {
  const own = isWildcard(host) ? thisMachine() : [inBrackets(host)];
  const hosts = [...LOOPBACK, ...own].map((name) => `${name}:${port}`);
  // A browser leaves out the port that its scheme has by itself.
  const withoutPort = port === 80 ? [...LOOPBACK, ...own] : [];
  return new Set([...hosts, ...withoutPort, ...names].map((name) => name.toLowerCase()));
}

/** Whether an `Origin` is that of a page which this server served under the `Host` of the same request. */
export function isOwnOrigin(origin: string, host: string): boolean {
  const [, authority] = /^https?:\/\/([^/?#@]+)$/.exec(origin.toLowerCase()) ?? [];
  return authority !== undefined && authority === host.toLowerCase();
}

/** Whether it stands for all addresses of this machine. */
export function isWildcard(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

/** An address as it stands in a URL. */
export function inBrackets(host: string): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}

function thisMachine(): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  return [hostname(), ...addresses.map(({ address }) => inBrackets(address.replace(/%.*$/, "")))];
}
