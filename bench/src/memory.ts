import { readdirSync, readFileSync } from "node:fs";

/** Returns the physical memory of a process in MB: current, or at its peak. Linux only. */
export function memoryOf(process: number | "self", kind: "held" | "peak"): number {
  // The system's own peak value (`maxRSS`) starts with that of the parent process.
  const status = readFileSync(`/proc/${process}/status`, "utf8");
  const [, kilobytes] = new RegExp(`^${kind === "held" ? "VmRSS" : "VmHWM"}:\\s+(\\d+) kB`, "m").exec(status) ?? [];
  return (Number(kilobytes) * 1024) / 1e6;
}

/** Returns a process with all its child processes. Linux only. */
export function processTree(process: number): number[] {
  const threads = readdirSync(`/proc/${process}/task`);
  const children = threads.flatMap((thread) =>
    readFileSync(`/proc/${process}/task/${thread}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );
  return [process, ...children.flatMap(processTree)];
}

/** Milliseconds in a tick of `/proc/PID/stat`. */
const TICK = 10;

/**
 * Returns the CPU time of processes and of their ended children in milliseconds, and their memory in MB. Memory that
 * several processes share counts once. Linux only.
 */
export function usageOf(processes: readonly number[]): { readonly cpu: number; readonly memory: number } {
  const cpuOf = (process: number) => {
    const [, fields = ""] = readFileSync(`/proc/${process}/stat`, "utf8").split(") ");
    const ticks = fields.split(" ").slice(11, 15).map(Number);
    return ticks.reduce((sum, value) => sum + value, 0) * TICK;
  };
  const memoryOf = (process: number) => {
    const [, kilobytes] = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${process}/smaps_rollup`, "utf8")) ?? [];
    return (Number(kilobytes) * 1024) / 1e6;
  };
  const sumOf = (count: (process: number) => number) => processes.reduce((sum, process) => sum + count(process), 0);
  return { cpu: sumOf(cpuOf), memory: sumOf(memoryOf) };
}
