import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { temporaryDirectory } from "../stores/temporary.ts";
import type { DayProgram } from "./program.ts";
import { Screen } from "./screen.ts";
import { type Day, GREETING, type How, NOTES, PICTURE } from "./things.ts";
import { Wire } from "./wire.ts";

/** An image of one white dot. */
const DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

/** Milliseconds for a program to become idle. */
const REST = 3000;

/** The home folder of a user, with a repository as working folder. */
export interface DayHome {
  readonly home: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Creates the home of a user who has set up a program for the provider at `url`. */
export function homeFor(program: DayProgram, url: string): DayHome {
  const home = temporaryDirectory();
  const cwd = join(home, "work");
  mkdirSync(cwd);
  writeFileSync(join(cwd, GREETING), "Good morning\n");
  writeFileSync(join(cwd, "mark.cjs"), "");
  writeFileSync(join(cwd, NOTES), "Nothing was seen.\n");
  writeFileSync(join(cwd, PICTURE), Buffer.from(DOT, "base64"));
  for (const words of [
    ["init", "-q"],
    ["add", "."],
    ["commit", "-q", "-m", "Begun"],
  ])
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.example", ...words], { cwd });
  const setup = program.setup(url, { home, cwd });
  for (const [file, text] of Object.entries(setup.files)) {
    mkdirSync(dirname(join(home, file)), { recursive: true });
    writeFileSync(join(home, file), typeof text === "string" ? text : JSON.stringify(text));
  }
  const env = {
    // Node first: some programs are scripts for the first node on the path.
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    HOME: home,
    TERM: "xterm-256color",
    LANG: "C.UTF-8",
    COLORFGBG: "15;0",
    ...setup.env,
  };
  return { home, cwd, env };
}

/** Returns the command line of the program at `place`. */
export function commandLine(place: string, args: readonly string[]): string[] {
  return [...(place.endsWith(".js") ? [process.execPath] : []), place, ...args];
}

/** Starts a day with the program at `place`, with its own home, folder and provider. */
export async function begin(program: DayProgram, place: string, how: How): Promise<Day> {
  const wire = await Wire.start(program.tools(how));
  const { home, cwd, env } = homeFor(program, wire.url);
  const start = (more: readonly string[]) => Screen.start(commandLine(place, more), { cwd, env });
  const day: Day = {
    program,
    wire,
    cwd,
    screen: await start(program[how]),
    async start(words) {
      day.screen = await start(words);
    },
    async [Symbol.asyncDispose]() {
      day.screen[Symbol.dispose]();
      endAllAt(home);
      await wire[Symbol.asyncDispose]();
    },
  };
  await day.screen.shows(program.ready);
  // Some programs show their prompt long before they accept input.
  await sleep(REST);
  return day;
}

/** Kills the remaining processes of a program: some leave servers running. Linux only. */
function endAllAt(home: string): void {
  for (const id of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      if (
        readFileSync(join("/proc", id, "environ"), "utf8")
          .split("\0")
          .includes(`HOME=${home}`)
      )
        process.kill(Number(id), "SIGKILL");
    } catch {
      // The process has ended, or belongs to another user.
    }
  }
}
