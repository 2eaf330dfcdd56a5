import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ID, temporaryDirectory } from "./store.fixture.ts";

/** Flushes are only visible from outside the process, as system calls. */
const canTrace = spawnSync("strace", ["-o", "/dev/null", "true"]).status === 0;

/** Returns the system calls with these names, one per line, during each statement. */
async function callsOf(names: string, directory: string, statements: readonly string[]): Promise<string[][]> {
  const program = `
    import { utimesSync, writeSync } from "node:fs";
    import { sqliteStore } from ${JSON.stringify(import.meta.resolve("./index.ts"))};
    const log = await sqliteStore({ directory: ${JSON.stringify(directory)} }).open(${JSON.stringify(ID)}, { create: true });
    const event = () => ({ type: "model.changed", model: "a/b", seq: log.seq + 1, epoch: log.epoch, at: 1 });
    ${statements.map((statement) => `writeSync(1, "mark"); ${statement};`).join("\n")}`;
  const trace = join(directory, "trace");
  const strace = ["-f", "-e", `trace=${names},write`, "-o", trace, process.execPath];
  const child = spawn("strace", [...strace, "--input-type=module", "--eval", program], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  expect(await once(child, "exit")).toEqual([0, null]);
  const calls = new RegExp(`\\b(${names.replaceAll(",", "|")})\\(`);
  return readFileSync(trace, "utf8")
    .split('write(1, "mark"')
    .slice(1)
    .map((part) => part.split("\n").filter((line) => calls.test(line)));
}

test.runIf(canTrace)("durable appends are flushed to the disk and others are not", async () => {
  const flushes = await callsOf("fsync,fdatasync", await temporaryDirectory(), [
    "log.append([event()])",
    "log.append([event()], { durable: true })",
    "log.append([event()])",
    // Even without new events, earlier events are flushed.
    "log.append([], { durable: true })",
    "log.append([], { durable: true })",
    "log.append([event()])",
    "0",
  ]);
  expect(flushes.slice(0, 6).map((calls) => calls.length)).toEqual([0, 1, 0, 1, 1, 0]);
});

test.runIf(canTrace)(
  "a durable append looks for its files only where something in their directory changed",
  async () => {
    const directory = await temporaryDirectory();
    const place = JSON.stringify(join(directory, "conversations"));
    // Further apart than the 20 ms between two checks of the directory.
    const append = `await new Promise((done) => setTimeout(done, 30)); log.append([event()], { durable: true })`;
    const [, , looks] = await callsOf("stat,statx,newfstatat", directory, [
      // The last change of the directory is long ago.
      `${append}; utimesSync(${place}, 1, 1)`,
      append,
      `for (let more = 0; more < 10; more++) { ${append} }`,
      "0",
    ]);
    expect(looks?.filter((call) => call.includes(".sqlite"))).toEqual([]);
    expect(looks).toHaveLength(10);
  },
);
