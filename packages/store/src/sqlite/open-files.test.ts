import { existsSync, readdirSync, readlinkSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { createId } from "@banyan/core";
import type { Log } from "@banyan/core/stores";
import { expect, onTestFinished, test } from "vitest";
import { sqliteStore } from "./index.ts";
import { events, readAll, temporaryDirectory } from "./store.fixture.ts";

async function manyLogs(directory: string, count: number, openFiles: number): Promise<Log[]> {
  const store = sqliteStore({ directory, openFiles });
  onTestFinished(() => store.close());
  const logs: Log[] = [];
  for (let index = 0; index < count; index++) logs.push(await store.open(createId(), { create: true }));
  return logs;
}

const OWN_FILES = "/proc/self/fd";

/** Returns the number of conversations that this process has open, by their write-ahead logs. */
function openIn(directory: string): number {
  const open = new Set<string>();
  for (const descriptor of readdirSync(OWN_FILES)) {
    try {
      open.add(readlinkSync(join(OWN_FILES, descriptor)));
    } catch {
      // The descriptor of this folder itself is closed by now.
    }
  }
  return [...open].filter((path) => path.startsWith(directory) && path.endsWith("-wal")).length;
}

/** Returns the names of the conversations' files. */
function filesIn(directory: string): string[] {
  return readdirSync(join(directory, "conversations"));
}

test.runIf(existsSync(OWN_FILES))(
  "V7 more conversations are active than files are open, and none notices",
  async () => {
    const directory = await temporaryDirectory();
    const logs = await manyLogs(directory, 20, 3);
    for (let round = 1; round <= 4; round++) {
      for (const log of logs) await log.append(events(log, 2), { durable: round % 2 === 0 });
      expect(openIn(directory)).toBe(3);
    }
    for (const log of logs) {
      expect(log.seq).toBe(8);
      expect((await readAll(log)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    }
    for (const log of logs) await log.close();
    expect(openIn(directory)).toBe(0);
    expect(filesIn(directory).filter((name) => !name.endsWith(".sqlite"))).toEqual([]);
  },
);

test.runIf(existsSync(OWN_FILES))("the file that was not used for longest is closed", async () => {
  const directory = await temporaryDirectory();
  const logs = await manyLogs(directory, 3, 2);
  const [first, second, third] = logs as [Log, Log, Log];
  await first.append(events(first, 1));
  await third.append(events(third, 1));
  await first.append(events(first, 1));
  await second.append(events(second, 1));
  expect(openIn(directory)).toBe(2);
  await third.append(events(third, 1));
  expect([first.seq, second.seq, third.seq]).toEqual([2, 1, 2]);
});

test("reading goes on through a file that was closed meanwhile", async () => {
  const logs = await manyLogs(await temporaryDirectory(), 2, 1);
  const [read, other] = logs as [Log, Log];
  const written = events(read, 1000);
  await read.append(written);
  const seen = [];
  for await (const batch of read.read()) {
    seen.push(...batch);
    await other.append(events(other, 1));
  }
  expect(seen).toEqual(written);
});

test("F5 a conversation whose file is closed for lack of use is still kept from others", async () => {
  const directory = await temporaryDirectory();
  const [idle] = (await manyLogs(directory, 2, 1)) as [Log];
  await idle.append(events(idle, 1));
  const other = sqliteStore({ directory });
  onTestFinished(() => other.close());
  for (const name of filesIn(directory)) {
    const id = /^(\w+)\.sqlite$/.exec(name)?.[1];
    if (id) await expect(other.open(id)).rejects.toMatchObject({ code: "locked" });
  }
});

test("an idle conversation whose file is taken away is not made anew", async () => {
  const directory = await temporaryDirectory();
  const [idle, other] = (await manyLogs(directory, 2, 1)) as [Log, Log];
  await other.append(events(other, 1));
  for (const name of filesIn(directory)) rmSync(join(directory, "conversations", name));
  expect(() => idle.append(events(idle, 1))).toThrow(expect.objectContaining({ code: "unusable" }));
  expect(filesIn(directory)).toEqual([]);
});

test("V7 the write-ahead log of an idle conversation stays small, whatever is written in turn", async () => {
  const directory = await temporaryDirectory();
  const logs = await manyLogs(directory, 4, 1);
  for (let round = 0; round < 300; round++) for (const log of logs) await log.append(events(log, 1));
  for (const name of filesIn(directory).filter((name) => name.endsWith("-wal")))
    expect(statSync(join(directory, "conversations", name)).size).toBeLessThan(512 * 1024);
  for (const log of logs)
    expect((await readAll(log)).map(({ seq }) => seq)).toEqual(Array.from({ length: 300 }, (_, at) => at + 1));
});

test("V7 an idle conversation is listed, read and taken over as it was written", async () => {
  const directory = await temporaryDirectory();
  const [idle, other] = (await manyLogs(directory, 2, 1)) as [Log, Log];
  const written = events(idle, 5);
  await idle.append(written);
  await other.append(events(other, 1));
  const second = sqliteStore({ directory });
  onTestFinished(() => second.close());
  expect(await second.list()).toHaveLength(2);
  const id = filesIn(directory).map((name) => /^(\w+)\.sqlite$/.exec(name)?.[1]);
  for (const conversation of id) {
    if (conversation === undefined) continue;
    await expect(second.open(conversation)).rejects.toMatchObject({ code: "locked" });
    const taken = await second.open(conversation, { take: true });
    if (taken.seq !== 5) continue;
    expect(await readAll(taken as Log)).toEqual(written);
    expect(taken.damage).toEqual([]);
  }
  expect(() => idle.append(events(idle, 1))).toThrow(expect.objectContaining({ code: "stale" }));
});
