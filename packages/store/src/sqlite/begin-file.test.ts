import { copyFileSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { beginConversationFile } from "./begin-file.ts";
import { identityOf } from "./conversation-schema.ts";
import { openSqliteFile } from "./database.ts";
import { events, fileOf, ID, OTHER, readAll, storeIn, temporaryDirectory, write } from "./store.fixture.ts";

test("V7 whatever a power cut leaves of the first log beside a new file, the conversation opens, with whole commits", async () => {
  const directory = await temporaryDirectory();
  const log = await storeIn(directory).open(ID, { create: true });
  const written = events(log, 4);
  for (const event of written) await log.append([event], { durable: true });
  const whole = readFileSync(`${fileOf(directory)}-wal`);
  const found = new Set<number>();
  const lengths = Array.from({ length: Math.ceil(whole.length / 2048) }, (_, index) => index * 2048);
  for (const length of [...lengths, whole.length]) {
    for (const rest of ["cut", "zeros"]) {
      const after = join(directory, `after-${rest}-${length}`);
      await mkdir(join(after, "conversations"), { recursive: true });
      copyFileSync(fileOf(directory), fileOf(after));
      const left = Buffer.alloc(rest === "cut" ? length : whole.length);
      whole.copy(left, 0, 0, length);
      writeFileSync(`${fileOf(after)}-wal`, left);
      const store = storeIn(after);
      const opened = await store.open(ID);
      expect(opened.damage).toEqual([]);
      expect(await readAll(opened)).toEqual(written.slice(0, opened.seq));
      await opened.append(events(opened, 1), { durable: true });
      found.add(opened.seq - 1);
      await store.close();
    }
  }
  expect(found).toEqual(new Set([0, 1, 2, 3, 4]));
});

test("V7 new files of a process have the same tables, each with the identity of its conversation", async () => {
  const directory = await temporaryDirectory();
  for (const id of [ID, OTHER]) {
    expect(beginConversationFile(fileOf(directory, id), id)).toBe(true);
    using database = openSqliteFile(fileOf(directory, id), { readOnly: true });
    expect(database.prepare("PRAGMA application_id").get()).toEqual({ application_id: identityOf(id) });
    expect(database.prepare("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
    expect(database.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    expect(statSync(fileOf(directory, id)).mode & 0o777).toBe(0o600);
  }
  const log = await storeIn(directory).open(ID);
  expect([log.seq, log.epoch]).toEqual([0, 1]);
});

test("V7 a file with events is never begun anew, and the log of a file that is gone is not read into a new one", async () => {
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  await write(store, ID, 3);
  expect(beginConversationFile(fileOf(directory), ID)).toBe(false);
  const log = await store.open(OTHER, { create: true });
  await log.append(events(log, 2));
  const elsewhere = await temporaryDirectory();
  await mkdir(join(elsewhere, "conversations"));
  copyFileSync(`${fileOf(directory, OTHER)}-wal`, `${fileOf(elsewhere, OTHER)}-wal`);
  const fresh = await storeIn(elsewhere).open(OTHER, { create: true });
  expect(fresh.seq).toBe(0);
});
