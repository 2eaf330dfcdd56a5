import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ID, temporaryDirectory } from "./fixture.ts";

/** What must follow on a disk can only be seen from outside the process: by the calls that flush. */
const canTrace = spawnSync("strace", ["-o", "/dev/null", "true"]).status === 0;

/** How often a file was flushed while each statement ran. */
async function flushes(directory: string, statements: readonly string[]): Promise<number[]> {
  const program = `
    import { writeSync } from "node:fs";
    import { sqliteStore } from ${JSON.stringify(import.meta.resolve("./index.ts"))};
    const log = await sqliteStore({ directory: ${JSON.stringify(directory)} }).open(${JSON.stringify(ID)}, { create: true });
    const event = () => ({ type: "model.changed", model: "a/b", seq: log.seq + 1, epoch: log.epoch, at: 1 });
    ${statements.map((statement) => `writeSync(1, "mark"); ${statement};`).join("\n")}`;
  const trace = join(directory, "trace");
  const strace = ["-f", "-e", "trace=fsync,fdatasync,write", "-o", trace, process.execPath];
  const child = spawn("strace", [...strace, "--input-type=module", "--eval", program], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  expect(await once(child, "exit")).toEqual([0, null]);
  return readFileSync(trace, "utf8")
    .split('write(1, "mark"')
    .slice(1)
    .map((part) => part.match(/(fsync|fdatasync)\(/g)?.length ?? 0);
}

test.runIf(canTrace)("durable appends are flushed to the disk and others are not", async () => {
  const counts = await flushes(await temporaryDirectory(), [
    "log.append([event()])",
    "log.append([event()], { durable: true })",
    "log.append([event()])",
    // What came before is flushed too, when nothing is added.
    "log.append([], { durable: true })",
    "log.append([], { durable: true })",
    "log.append([event()])",
    "0",
  ]);
  expect(counts.slice(0, 6)).toEqual([0, 1, 0, 1, 1, 0]);
});
