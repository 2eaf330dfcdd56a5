import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Session } from "@banyan/core";
import { sqliteStore } from "@banyan/store/sqlite";
import { expect, test } from "vitest";
import { CONVERSATION, history, kindOf, leftOf } from "./history.fixture.ts";
import { PersonsRepository } from "./repository.fixture.ts";

const isLong = process.env.BANYAN_LONG === "1";
const SEEDS = isLong ? 200 : 10;
const STEPS = 6;

const seeds = Array.from({ length: SEEDS }, (_, index) => index + 1);

/** Checks the state after the conversation was opened again, for any end of the process before. */
async function assertSettled(person: PersonsRepository): Promise<void> {
  const left = leftOf(person.root);
  const store = sqliteStore({ directory: join(person.root, "data") });
  await using session = await Session.open(store, CONVERSATION, { create: true });
  const worktrees = person.open();
  const before = person.fingerprint;
  if (left.fingerprint !== undefined) expect(before).toBe(left.fingerprint);
  await worktrees.sweep(CONVERSATION, session.state);
  const owners = [...session.state.messages.values()].flatMap((message) =>
    message.role === "user" ? (message.worktree ?? []) : [],
  );
  const listed = await worktrees.list();
  for (const { name } of listed) expect(owners).toContain(name);
  // A worktree that was being removed exists with its changes, or not at all.
  for (const name of owners) if (!left.removed.includes(name)) await worktrees.folderOf(name, CONVERSATION);
  for (const { name } of listed) await worktrees.remove(name, { changes: true });
  expect(person.left).toEqual([]);
  expect(person.fingerprint).toBe(before);
}

test.each(seeds.filter((seed) => seed % 3 !== 0))(
  "C7, C8: whatever happens, the person's files are theirs (seed %i)",
  async (seed) => {
    using person = PersonsRepository.of(kindOf(seed));
    await history(person, seed, STEPS);
    await assertSettled(person);
  },
);

test.each(seeds.filter((seed) => seed % 3 === 0))(
  "C7: after a kill each worktree has its branch again, or is gone (seed %i)",
  async (seed) => {
    using person = PersonsRepository.of(kindOf(seed));
    const program = join(import.meta.dirname, "history.fixture.ts");
    const child = spawn(process.execPath, [program, person.root, String(seed), "1000"], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    const ended = once(child, "exit");
    await expect.poll(() => existsSync(join(person.root, "left.json")), { interval: 10 }).toBe(true);
    await Promise.race([ended, sleep((seed * 7919) % 1200)]);
    child.kill("SIGKILL");
    const [code] = await ended;
    expect(code).toBe(null);
    await assertSettled(person);
  },
);

test.skipIf(!isLong)("C7: the same holds for 20,000 files", async () => {
  using person = PersonsRepository.of("plain", 20_000);
  await history(person, 7, STEPS);
  await assertSettled(person);
});
