import { readFileSync } from "node:fs";

/** Counters of `/proc/net/snmp` and `snmp6`: an address without a route, and a datagram to a port that nobody reads. */
const COUNTERS = ["Ip OutNoRoutes", "Udp NoPorts", "Ip6OutNoRoutes", "Udp6NoPorts"];

/**
 * Returns how often programs in the network of a process tried to reach an address without the proxy (S40), such as a
 * DNS server. The kernel counts these attempts, so programs cannot change the number by their output.
 */
export function directAttempts(process: number): number {
  const counters = new Map([...pairsOfLines(process), ...pairsInLines(process)]);
  return COUNTERS.reduce((sum, name) => sum + (counters.get(name) ?? 0), 0);
}

/** In `snmp`, a line with names precedes each line with numbers. */
function pairsOfLines(process: number): [string, number][] {
  const lines = linesOf(`/proc/${process}/net/snmp`).map((line) => line.split(/[: ]+/));
  return lines.flatMap(([group, ...numbers], index) => {
    const names = lines[index - 1];
    if (names === undefined || names[0] !== group) return [];
    return numbers.map((number, at): [string, number] => [`${group} ${names[at + 1]}`, Number(number)]);
  });
}

/** In `snmp6`, each line has a name and a number. */
function pairsInLines(process: number): [string, number][] {
  return linesOf(`/proc/${process}/net/snmp6`).map((line) => {
    const [name = "", number] = line.split(/\s+/);
    return [name, Number(number)];
  });
}

function linesOf(table: string): string[] {
  try {
    return readFileSync(table, "latin1").trimEnd().split("\n");
  } catch {
    // The process has ended, or the kernel has no IPv6.
    return [];
  }
}
