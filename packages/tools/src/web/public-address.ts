import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

/** The prefix that translators put before an IPv4 address (RFC 6052). */
const TRANSLATED = ipaddr.IPv6.parseCIDR("64:ff9b::/96");

/** A public address that only machines of one cloud reach. It gives access to the machine's own secrets. */
const PLATFORM = "168.63.129.16";

/**
 * Returns whether an IP address belongs to the public internet (S11), and not to this machine, its network or its
 * cloud. An IPv6 address that contains an IPv4 address is judged like the IPv4 address. Text that is no address is not
 * public. `own` are the addresses of this machine.
 * @example isPublicAddress("192.168.0.1") // false
 */
export function isPublicAddress(text: string, own = ownAddresses()): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = embeddedAddress(ipaddr.parse(text));
  // Only known public ranges pass, because new special ranges are assigned over time.
  if (address.range() !== "unicast" || address.toString() === PLATFORM) return false;
  if (address instanceof ipaddr.IPv6 && !address.match(GLOBAL_UNICAST)) return false;
  return !own.has(address.toString());
}

/** Returns whether an IP address is a loopback address: `127.0.0.0/8` or `::1`. */
export function isInLoopbackRange(text: string): boolean {
  return ipaddr.isValid(text) && embeddedAddress(ipaddr.parse(text)).range() === "loopback";
}

function embeddedAddress(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (address instanceof ipaddr.IPv4) return address;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  if (address.match(TRANSLATED)) return new ipaddr.IPv4(address.toByteArray().slice(12));
  return address;
}

/** A service that listens on all addresses of this machine is also reachable through its public address. */
function ownAddresses(): ReadonlySet<string> {
  const own = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses);
  return new Set(own.map(({ address }) => ipaddr.parse(address).toString()));
}
