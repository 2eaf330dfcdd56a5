import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Store } from "@banyan/core";
import { postgresStore } from "@banyan/store/postgres";
import { sqliteStore } from "@banyan/store/sqlite";
import { superuser, testDatabase, whyNoPostgres } from "@banyan/store/testing";
import { describe, expect, onTestFinished, test } from "vitest";

const PROGRAM = fileURLToPath(new URL("approval-next-day.ts", import.meta.url));

/** A folder for the program, and where it keeps its conversations. */
async function place(kind: "SQLite" | "PostgreSQL") {
  const cwd = mkdtempSync(join(tmpdir(), "banyan-next-day-"));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const database = kind === "PostgreSQL" ? await testDatabase() : undefined;
  if (database) onTestFinished(database.remove);
  const address = database && { DATABASE: database.url };
  const start = (env: NodeJS.ProcessEnv, ...args: readonly string[]) =>
    spawn(process.execPath, [PROGRAM, ...args], { cwd, env: { ...process.env, ...address, ...env } });
  const request = async (...args: readonly string[]) => {
    const child = start({}, ...args);
    const [said, told] = await Promise.all([text(child.stdout), text(child.stderr)]);
    if (told !== "") throw new Error(told);
    return said.trimEnd().split(/ (.*)/s);
  };
  /** Ids of the questions that wait, as another program lists them. */
  const listed = async () => {
    const store: Store = database
      ? postgresStore(database.url)
      : sqliteStore({ directory: join(cwd, "conversations") });
    const [summary] = await store.list();
    await store.close();
    return summary?.questions ?? [];
  };
  /** Kills the process that asks as soon as its question is kept, while another of its calls still works. */
  const askAndKill = async () => {
    const child = start({ LOOK_UP_MS: "60000" }, "ask");
    const exit = once(child, "exit");
    while ((await listed()).length === 0) await sleep(50);
    child.kill("SIGKILL");
    await exit;
    // Nobody waits for 15 s until the database gives away what the process had.
    if (database)
      await superuser(database.url, `UPDATE banyan.nodes SET lease_until = now() WHERE process = ${child.pid}`);
  };
  return { request, listed, askAndKill, refunds: () => readFileSync(join(cwd, "refunds.txt"), "utf8") };
}

const KINDS = whyNoPostgres === undefined ? (["SQLite", "PostgreSQL"] as const) : (["SQLite"] as const);

describe.each(KINDS)("F73: a user allows a call the next day, in another process (%s)", (kind) => {
  test.each(["an orderly end", "a crash"] as const)("after %s", async (end) => {
    const { request, listed, askAndKill, refunds } = await place(kind);
    const asked = end === "a crash" ? await askAndKill() : await request("ask");
    const [question = ""] = await listed();
    if (asked) expect(asked.slice(0, 2)).toEqual(["waiting", question]);
    expect((await request("answer", question, "yes")).slice(0, 2)).toEqual(["answered", "I have paid order 7 back."]);
    expect(refunds()).toBe("order 7\n");
    await expect(request("answer", question, "yes")).rejects.toThrow("It may have been answered or withdrawn");
    expect([refunds(), await listed()]).toEqual(["order 7\n", []]);
  });
});
