import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { type Announcement, isInstant } from "./witness.ts";

/** What a program does in a process of its own, and when that is killed. */
export interface Fate {
  /** Its file. */
  readonly program: string;
  readonly what: "begin" | "go-on";
  readonly directory: string;
  /** At which instant of those that it announces. */
  readonly at?: number;
  /** Whether each fragment of text is an instant too. */
  readonly every: boolean;
  /** Not at an instant, but so many milliseconds after an announcement, whatever it does by then. */
  readonly after?: { readonly announcement: number; readonly milliseconds: number };
}

/** What was heard of a program until it ended. */
export interface Life {
  readonly seen: readonly Announcement[];
  /** Whether it was killed before its end. */
  readonly killed: boolean;
}

/** Runs the program until it ends, or kills it with -9. Rejects when it fails by itself. */
export async function live({ program, what, directory, at = 0, every, after }: Fate): Promise<Life> {
  const parameters = [program, what, directory, String(at), every ? "every" : "most"];
  // Compiled once for all: the next one starts in a third of the time.
  const env = { ...process.env, NODE_COMPILE_CACHE: join(directory, "..", "compiled") };
  const child = spawn(process.execPath, parameters, { stdio: ["ignore", "pipe", "inherit"], env });
  const kill = () => child.kill("SIGKILL");
  const seen: Announcement[] = [];
  let instants = 0;
  let rest = "";
  let timer: NodeJS.Timeout | undefined;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    // What has no line break yet was not said to its end.
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
