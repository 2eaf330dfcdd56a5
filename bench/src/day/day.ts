import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { temporaryDirectory } from "../stores/temporary.ts";
import type { DayProgram } from "./program.ts";
import { Screen } from "./screen.ts";
import { type Day, GREETING, type How, NOTES, PICTURE } from "./things.ts";
import { Wire } from "./wire.ts";

/** One white dot. */
const DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

/** Milliseconds that a program has to come to rest. */
const REST = 3000;

/** Begins a day with the program that stands at `place`: in a home and a folder of its own, over a provider of its own. */
export async function begin(program: DayProgram, place: string, how: How): Promise<Day> {
  const wire = await Wire.start(program.tools(how));
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
  const setup = program.setup(wire.url, { home, cwd });
  for (const [file, text] of Object.entries(setup.files)) {
    mkdirSync(dirname(join(home, file)), { recursive: true });
    writeFileSync(join(home, file), typeof text === "string" ? text : JSON.stringify(text));
  }
  const env = {
    // Node itself first: some of them are scripts for whatever node is found.
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    HOME: home,
    TERM: "xterm-256color",
    LANG: "C.UTF-8",
    COLORFGBG: "15;0",
    ...setup.env,
  };
  const start = (more: readonly string[]) => {
    const command = place.endsWith(".js") ? [process.execPath, place] : [place];
    return Screen.start([...command, ...more], { cwd, env });
  };
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
  // Some show their prompt long before they hear what is entered there.
  await sleep(REST);
  return day;
}

/** Ends what a program has left behind: some start servers that stay. Only on Linux. */
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
      // It has ended meanwhile, or is somebody else's.
    }
  }
}
