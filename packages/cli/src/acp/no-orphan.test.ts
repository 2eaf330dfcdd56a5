import { spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { type Home, home, MAIN } from "../testing/banyan.ts";

const EDITOR = fileURLToPath(new URL("./doomed-editor.fixture.ts", import.meta.url));
const STARTS = 200;
/** Editors at the same time. */
const TOGETHER = 2;
/** Milliseconds until an editor ends: enough for `banyan acp` to start, open a session, and run a command. */
const MOMENTS = 5_000;
/** No other process has this command line. */
const COMMAND = `sleep 4${process.pid}`;

/** Ends of an editor. The last one leaves the pipe open, as when an editor kills the npx that it started. */
const ends = fc.record({
  way: fc.constantFrom("the editor is killed", "its pipe is closed", "what it started is killed"),
  after: fc.nat(MOMENTS),
});

/** Running processes with state, id and command line. Zombies are left out. */
function processes(): readonly string[] {
  const { stdout } = spawnSync("ps", ["-eo", "stat=,pid=,args="], { encoding: "utf8" });
  return stdout.split("\n").filter((line) => !line.startsWith("Z"));
}

/** Processes that run this test's command. */
function commands(): readonly string[] {
  return processes().filter((line) => line.includes(COMMAND) && !line.includes(EDITOR));
}

function isAlive(id: number): boolean {
  return processes().some((line) => Number(line.trim().split(/\s+/)[1]) === id);
}

/** Starts and ends an editor. Resolves with the milliseconds until `banyan acp` has ended, at most a minute. */
async function end(place: Home, { way, after }: { readonly way: string; readonly after: number }): Promise<number> {
  const how = way === "what it started is killed" ? "wrapped" : "alone";
  const editor = spawn(process.execPath, [EDITOR, MAIN, how, COMMAND, join(place.workspace, randomUUID())], {
    cwd: place.workspace,
    env: place.env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void editor.kill("SIGKILL"));
  const [line] = await once(createInterface({ input: editor.stdout }), "line");
  const { acp, wrapper } = JSON.parse(line);
  await sleep(after);
  if (way === "the editor is killed") editor.kill("SIGKILL");
  else if (way === "its pipe is closed") editor.stdin.write("close\n");
  else process.kill(wrapper, "SIGKILL");
  const since = performance.now();
  while (isAlive(acp) && performance.now() - since < 60_000) await sleep(100);
  const took = Math.round(performance.now() - since);
  if (isAlive(acp)) process.kill(acp, "SIGKILL");
  editor.kill("SIGKILL");
  return took;
}

test("A7: banyan acp and its running command end with the parent process, even if another process holds the pipe", async () => {
  using place = home();
  expect(await end(place, { way: "what it started is killed", after: 2_000 })).toBeLessThan(60_000);
  await expect.poll(commands).toEqual([]);
});

test.runIf(process.env.BANYAN_LONG === "1")(
  `A7: no process is left 3 seconds after ${STARTS} starts whose editor was gone at a random moment (long mode)`,
  { timeout: 1_800_000 },
  async () => {
    using place = home();
    const seed = Number(process.env.BANYAN_SEED ?? Date.now() % 2 ** 31);
    const all = fc.sample(ends, { seed, numRuns: STARTS });
    // The first run in a home compiles the program.
    await end(place, { way: "its pipe is closed", after: 0 });
    const took: string[] = [];
    /** Runs that took longer than 3 seconds, multiplied by the load of the machine. */
    const late: string[] = [];
    let busy = 0;
    for (let begun = 0; begun < STARTS; begun += TOGETHER) {
      const look = setInterval(() => {
        if (commands().length > 0) busy += 1;
      }, 500);
      const one = async (how: (typeof all)[number]) => {
        const milliseconds = await end(place, how);
        const line = `${String(milliseconds).padStart(5)} ms: ${how.way} after ${how.after} ms`;
        took.push(line);
        if (milliseconds > 3_000 * Math.max(1, (loadavg()[0] ?? 0) / availableParallelism())) late.push(line);
      };
      await Promise.all(all.slice(begun, begun + TOGETHER).map(one)).finally(() => clearInterval(look));
    }
    const slowest = took.sort().at(-1);
    console.log(`${STARTS} editors, seed ${seed}: a command ran at ${busy} looks; the slowest end took ${slowest}`);
    await expect.poll(commands, { timeout: 3_000 }).toEqual([]);
    expect(late).toEqual([]);
    // Some moments must be late enough for a running command.
    expect(busy).toBeGreaterThan(0);
  },
);
