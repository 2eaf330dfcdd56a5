import { readFileSync } from "node:fs";

/** The physical memory of a process in MB: what it holds, or the most that it held. Only on Linux. */
export function memoryOf(process: number | "self", kind: "held" | "peak"): number {
  // The system's own record of the most (`maxRSS`) begins with that of the process which started this one.
  const status = readFileSync(`/proc/${process}/status`, "utf8");
  const [, kilobytes] = new RegExp(`^${kind === "held" ? "VmRSS" : "VmHWM"}:\\s+(\\d+) kB`, "m").exec(status) ?? [];
  return (Number(kilobytes) * 1024) / 1e6;
}
