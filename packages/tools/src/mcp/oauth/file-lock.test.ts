import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { lockFile } from "./file-lock.ts";

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), "banyan-lock-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test("programs take turns, also after one of them was killed while it had the lock", async () => {
  const folder = temporary();
  const [lock, log] = [join(folder, "lock"), join(folder, "log")];
  writeFileSync(log, "");
  // Each turn counts the lines and adds the next number. Two programs at once would add the same number.
  const script = `
    import { appendFileSync, readFileSync } from "node:fs";
    import { setTimeout as sleep } from "node:timers/promises";
    import { lockFile } from ${JSON.stringify(new URL("./file-lock.ts", import.meta.url).href)};
    const [lock, log, turns] = process.argv.slice(1);
    for (let turn = 0; turn < Number(turns); turn++) {
      using _lock = await lockFile(lock, new AbortController().signal);
      const lines = readFileSync(log, "utf8").split("\\n").length;
      await sleep(Math.random() * 3);
      appendFileSync(log, lines + "\\n");
    }`;
  const start = (turns: number) =>
    spawn(process.execPath, ["--input-type=module", "-e", script, lock, log, String(turns)], { stdio: "inherit" });
  const lines = () => readFileSync(log, "utf8").trim().split("\n").filter(Boolean).map(Number);
  const [endless, ...others] = [start(1_000_000), start(30), start(30), start(30)];
  const ended = Promise.all(others.map((program) => once(program, "exit")));
  await expect.poll(() => lines().length, { timeout: 20_000 }).toBeGreaterThan(10);
  endless?.kill("SIGKILL");
  expect(await ended).toEqual(others.map(() => [0, null]));
  const written = lines();
  expect(written.length).toBeGreaterThanOrEqual(90);
  expect(written).toEqual(written.map((_, index) => index + 1));
  expect(existsSync(lock)).toBe(false);
});

test("holders of one program exclude each other, and a waiting one can give up", async () => {
  const file = join(temporary(), "new", "lock");
  const { signal } = new AbortController();
  const first = await lockFile(file, signal);
  await expect(lockFile(file, AbortSignal.timeout(100))).rejects.toThrow();
  const second = lockFile(file, signal);
  first[Symbol.dispose]();
  (await second)[Symbol.dispose]();
  expect(existsSync(file)).toBe(false);
});
