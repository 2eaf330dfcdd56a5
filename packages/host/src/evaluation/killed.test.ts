import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Session, usageOnPath } from "@banyan/core";
import { checkConversation } from "@banyan/core/testing";
import { sqliteStore } from "@banyan/store/sqlite";
import { expect, onTestFinished, test } from "vitest";
import type { Evaluation } from "./record.ts";

const PROGRAM = fileURLToPath(new URL("killed-evaluation.fixture.ts", import.meta.url));
const isLong = process.env.BANYAN_LONG === "1";
const [CASES, KILLS] = isLong ? [100, 12] : [8, 3];

test(`C16: an evaluation of ${CASES} cases continues after each of ${KILLS} kills, and counts nothing twice`, {
  timeout: 600_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "killed-evaluation-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  const noted = () => {
    const file = join(folder, "asked");
    return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
  };
  const start = () =>
    spawn(process.execPath, [PROGRAM, folder, String(CASES)], { stdio: ["ignore", "pipe", "inherit"] });
  let kills = 0;
  while (kills < KILLS) {
    const running = start();
    const ended = new Promise<NodeJS.Signals | null>((resolve) => running.once("exit", (_, signal) => resolve(signal)));
    // Kill at any moment after some attempts have results and while others run.
    const enough = Math.floor((CASES * (kills + 1)) / (KILLS + 1));
    const passed = () => noted().filter((line) => line.startsWith("passed")).length;
    while (passed() < enough && running.exitCode === null) await sleep(2);
    await sleep(10 * Math.random());
    running.kill("SIGKILL");
    if ((await ended) === "SIGKILL") kills++;
    else break;
  }
  expect(kills).toBeGreaterThan(1);
  const last = start();
  const evaluation: Evaluation = JSON.parse(await text(last.stdout));
  const { attempts, spent } = evaluation;
  expect(attempts.map(({ status }) => status)).toEqual(Array(CASES).fill("passed"));
  expect(attempts.some(({ isKept }) => isKept)).toBe(true);

  // No model was called again for an attempt with a result.
  const lines = noted().map((line) => line.split(" ") as [string, string]);
  const late = lines.filter(([what, name], at) => {
    const had = lines.findIndex(([status, other]) => status === "passed" && other === name);
    return had >= 0 && at > had && what !== "passed";
  });
  expect(late).toEqual([]);

  const store = sqliteStore({ directory: join(folder, "store") });
  const session = await Session.open(store, "evaluation");
  const { state } = session;
  const results = [...state.messages.keys()].filter((id) => id.endsWith("-result"));
  expect(results.length).toBe(CASES);
  // Each attempt took two steps, and its judge one. The sums count each step once.
  expect(spent.attempts.cost).toBeCloseTo(CASES * 0.02, 9);
  expect(spent.judging.cost).toBeCloseTo(CASES * 0.01, 9);
  expect(spent.all.cost).toBeCloseTo(usageOnPath([...state.messages.values()]).cost ?? Number.NaN, 9);
  expect(spent.beside.cost).toBeCloseTo((spent.all.cost ?? 0) - CASES * 0.03, 9);
  // The folders of interrupted attempts were removed when these ran again.
  expect(readdirSync(join(folder, "attempts", "evaluation")).length).toBe(CASES);
  // An interrupted call waits for a user to continue; nothing else is open.
  expect(checkConversation(state).filter((problem) => !/^Call .* is executing\.$/.test(problem))).toEqual([]);
  await session.close();
  await store.close();
});
