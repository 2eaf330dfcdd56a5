import { readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { keepBackup } from "../files/backups.ts";
import { TestFolder } from "../test-folder.fixture.ts";
import { pruneBackups } from "./prune-backups.ts";

const BOUNDS = { days: 30, bytes: 1000 };

/** A folder of backups, with contents of any age. */
class Backups extends TestFolder {
  readonly backups = join(this.outside, "backups");

  async keep(text: string, daysAgo = 0): Promise<string> {
    const digest = await keepBackup(this.backups, [Buffer.from(text)]);
    this.age(digest, daysAgo);
    return digest;
  }

  age(name: string, daysAgo: number): void {
    const at = Date.now() / 1000 - daysAgo * 86_400;
    utimesSync(join(this.backups, name), at, at);
  }

  get left(): string[] {
    return readdirSync(this.backups).sort();
  }
}

test("old contents are removed, unless a newer change stored them again", async () => {
  using folder = new Backups();
  await folder.keep("old", 31);
  const young = await folder.keep("young", 29);
  await folder.keep("old, and needed again", 31);
  const again = await folder.keep("old, and needed again");
  await pruneBackups(folder.backups, BOUNDS);
  expect(folder.left).toEqual([young, again].sort());
});

test("the oldest contents over the limit are removed, except those of the last day", async () => {
  using folder = new Backups();
  await folder.keep("a".repeat(600), 20);
  const fits = await folder.keep("b".repeat(600), 10);
  const small = await folder.keep("c".repeat(300), 5);
  await pruneBackups(folder.backups, BOUNDS);
  expect(folder.left).toEqual([fits, small].sort());
  const large = await folder.keep("d".repeat(5000), 0.5);
  await pruneBackups(folder.backups, BOUNDS);
  expect(folder.left).toEqual([large]);
});

test("half-written contents are removed after a day; no other file in the folder changes, nor the target of a link", async () => {
  using folder = new Backups();
  const kept = await folder.keep("kept", 2);
  const outside = join(folder.outside, "secret.txt");
  utimesSync(outside, 1, 1);
  for (const name of [".00000000-0000-4000-8000-000000000000.tmp", ".00000000-0000-4000-8000-000000000001.tmp"])
    writeFileSync(join(folder.backups, name), "half");
  folder.age(".00000000-0000-4000-8000-000000000000.tmp", 2);
  writeFileSync(join(folder.backups, "notes.txt"), "mine");
  folder.age("notes.txt", 400);
  symlinkSync(outside, join(folder.backups, "0".repeat(64)));
  await pruneBackups(folder.backups, BOUNDS);
  expect(folder.left).toEqual([".00000000-0000-4000-8000-000000000001.tmp", "0".repeat(64), kept, "notes.txt"].sort());
  expect(readFileSync(outside, "utf8")).toBe("secret\n");
});

test("a missing folder is no error, and an abort stops the removal before it begins", async () => {
  using folder = new Backups();
  await pruneBackups(folder.backups, BOUNDS);
  const old = await folder.keep("old", 400);
  await pruneBackups(folder.backups, BOUNDS, AbortSignal.abort());
  expect(folder.left).toEqual([old]);
});
