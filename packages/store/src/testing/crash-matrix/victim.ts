import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { type Announcement, isInstant } from "./witness.ts";

/** A run of a program in a separate process, and the moment of its death. */
export interface Fate {
  /** The program's file. */
  readonly program: string;
  readonly what: "begin" | "go-on";
  readonly directory: string;
  /** The number of the announced instant at which to kill. */
  readonly at?: number;
  /** True if each text delta is an instant too. */
  readonly every: boolean;
  /** Kill a number of milliseconds after an announcement, regardless of instants. */
  readonly after?: { readonly announcement: number; readonly milliseconds: number };
}

/** The announcements of a program until it ended. */
export interface Life {
  readonly seen: readonly Announcement[];
  /** True if the program was killed before its end. */
  readonly killed: boolean;
}

/** Runs the program to its end or kills it with SIGKILL. Rejects if the program fails on its own. */
export async function live({ program, what, directory, at = 0, every, after }: Fate): Promise<Life> {
  const parameters = [program, what, directory, String(at), every ? "every" : "most"];
  // The compile cache lets later programs start in a third of the time.
  const env = { ...process.env, NODE_COMPILE_CACHE: join(directory, "..", "compiled") };
  const child = spawn(process.execPath, parameters, { stdio: ["ignore", "pipe", "inherit"], env });
  const kill = () => child.kill("SIGKILL");
  const seen: Announcement[] = [];
  let instants = 0;
  let rest = "";
  let timer: NodeJS.Timeout | undefined;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    // A line without line break is incomplete.
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const announcement = JSON.parse(line) as Announcement;
      seen.push(announcement);
      if (isInstant(announcement, every)) instants++;
    }
    if (at > 0 && instants >= at) kill();
    if (after && seen.length >= after.announcement) timer ??= setTimeout(kill, after.milliseconds);
  });
  const [code, signal] = await once(child, "close");
  clearTimeout(timer);
  if (signal !== "SIGKILL" && code !== 0) throw new Error(`The program failed by itself: it ended with ${code}.`);
  return { seen, killed: signal === "SIGKILL" };
}
