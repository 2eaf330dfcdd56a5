import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";

/** What IPv6 has given out for public use so far. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

/** Where translators between the two families put an IPv4 address (RFC 6052). */
const TRANSLATED = ipaddr.IPv6.parseCIDR("64:ff9b::/96");

/** In public space, but only the machines of one cloud reach it, as the door to the machine's own secrets. */
const PLATFORM = "168.63.129.16";

/**
 * Whether an IP address belongs to the public internet (S11), and not to this machine, its network, its cloud, or nobody.
 * An IPv6 address that stands for an IPv4 address is judged as that. What is no address is not public. `own` are the
 * addresses of this machine.
 */
export function isPublicAddress(text: string, own = ownAddresses()): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = meant(ipaddr.parse(text));
  // What is not known to be public is not: new special ranges come to be all the time.
  if (address.range() !== "unicast" || address.toString() === PLATFORM) return false;
  if (address instanceof ipaddr.IPv6 && !address.match(GLOBAL_UNICAST)) return false;
  return !own.has(address.toString());
}

function meant(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (address instanceof ipaddr.IPv4) return address;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  if (address.match(TRANSLATED)) return new ipaddr.IPv4(address.toByteArray().slice(12));
  return address;
}

/** What listens on every address of this machine is reached through a public one of it too. */
function ownAddresses(): ReadonlySet<string> {
  const own = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses);
  return new Set(own.map(({ address }) => ipaddr.parse(address).toString()));
}
