import { readFileSync } from "node:fs";

/** Returns the physical memory of a process in MB: current, or at its peak. Linux only. */
export function memoryOf(process: number | "self", kind: "held" | "peak"): number {
  // The system's own peak value (`maxRSS`) starts with that of the parent process.
  const status = readFileSync(`/proc/${process}/status`, "utf8");
  const [, kilobytes] = new RegExp(`^${kind === "held" ? "VmRSS" : "VmHWM"}:\\s+(\\d+) kB`, "m").exec(status) ?? [];
  return (Number(kilobytes) * 1024) / 1e6;
}
