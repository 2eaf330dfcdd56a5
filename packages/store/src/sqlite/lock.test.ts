import { readdirSync, writeFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { kill, nextLine, run } from "./child.fixture.ts";
import { sqliteStore } from "./index.ts";
import { events, fileOf, ID, OTHER, readAll, storeIn, temporaryDirectory, write } from "./store.fixture.ts";

const WAITS = `console.log("ready"); process.stdin.resume();`;

test("F5 a second process is refused with the name of the one that has the conversation open", async () => {
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  const { child, lines } = run(directory, `log.append([event(1)]); ${WAITS}`);
  await nextLine(lines);
  await expect(store.open(ID)).rejects.toMatchObject({
    code: "locked",
    message: expect.stringMatching(
      new RegExp(
        `^Conversation ${ID} is open in test \\(process ${child.pid} on ${hostname()}, since \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d\\); close the conversation there`,
      ),
    ),
  });
  await kill(child);
  const log = await store.open(ID);
  expect(log.epoch).toBe(2);
  expect(log.seq).toBe(1);
});

test.skipIf(process.platform === "win32")("F5 a process that stands still keeps its conversation", async () => {
  const directory = await temporaryDirectory();
  const { child, lines } = run(directory, WAITS);
  await nextLine(lines);
  child.kill("SIGSTOP");
  await expect(storeIn(directory).open(ID)).rejects.toMatchObject({ code: "locked" });
});

test("F5 a conversation that was closed is free, though its process lives", async () => {
  const directory = await temporaryDirectory();
  const { lines } = run(directory, `await log.close(); ${WAITS}`);
  await nextLine(lines);
  const log = await storeIn(directory).open(ID);
  await log.append(events(log, 1));
});

test("F5 a second store in the same process is refused as another process is", async () => {
  const directory = await temporaryDirectory();
  const first = storeIn(directory);
  const second = storeIn(directory);
  const log = await first.open(ID, { create: true });
  await expect(second.open(ID)).rejects.toMatchObject({ code: "locked" });
  await expect(second.open(ID)).rejects.toMatchObject({ code: "locked" });
  await log.append(events(log, 1));
  await first.close();
  expect((await second.open(ID)).seq).toBe(1);
});

test("F5 whoever takes a conversation from another process fences it off, and that one is told by whom", async () => {
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  const first = await store.open(ID, { create: true });
  await first.append(events(first, 3));
  const { child, lines } = run(directory, `log.append([event(4)]); ${WAITS}`, [], { take: true });
  await nextLine(lines);
  const stale = expect.objectContaining({ code: "stale", message: expect.stringContaining(`process ${child.pid}`) });
  expect(() => first.append(events(first, 1))).toThrow(stale);
  expect(() => first.append(events(first, 1), { durable: true })).toThrow(stale);
  await first.close();
  await expect(store.open(ID)).rejects.toMatchObject({ code: "locked" });
  await kill(child);
  const log = await store.open(ID);
  expect((await readAll(log)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
});

test("F5 of many processes that open a conversation at once, one has it, each time with the next epoch", async () => {
  const directory = await temporaryDirectory();
  await write(storeIn(directory), ID, 1);
  const program = `
    import { sqliteStore } from ${JSON.stringify(import.meta.resolve("./index.ts"))};
    const store = sqliteStore({ directory: ${JSON.stringify(directory)} });
    const epochs = [];
    while (epochs.length < 20) {
      const log = await store.open(${JSON.stringify(ID)}).catch((error) => {
        if (error.code !== "locked") throw error;
      });
      if (log) {
        epochs.push(log.epoch);
        log.append([{ type: "title.changed", title: "x", seq: log.seq + 1, epoch: log.epoch, at: 1 }]);
        await log.close();
      }
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    console.log(JSON.stringify(epochs));`;
  const { spawn } = await import("node:child_process");
  const { text } = await import("node:stream/consumers");
  const outputs = Array.from({ length: 4 }, () =>
    text(
      spawn(process.execPath, ["--input-type=module", "--eval", program], { stdio: ["ignore", "pipe", "inherit"] })
        .stdout,
    ),
  );
  const epochs = (await Promise.all(outputs)).flatMap((output) => JSON.parse(output) as number[]);
  expect(epochs.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 80 }, (_, index) => index + 2));
  const log = await storeIn(directory).open(ID);
  expect((await readAll(log)).map(({ epoch }) => epoch).slice(1)).toEqual(epochs.toSorted((a, b) => a - b));
});

test("F9 an owner's process id that lives again keeps nobody out: its lock is what counts", async () => {
  const directory = await temporaryDirectory();
  await write(storeIn(directory), ID, 1);
  const { DatabaseSync } = await import("node:sqlite");
  const owner = { lock: "gone", program: "banyan", process: process.pid, host: hostname(), since: Date.now() };
  const database = new DatabaseSync(fileOf(directory));
  database.prepare("UPDATE writer SET owner = ?").run(JSON.stringify(owner));
  database.close();
  const log = await storeIn(directory).open(ID);
  await log.append(events(log, 1));
});

test("F9 a record of the owner that makes no sense keeps nobody out", async () => {
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  await write(store, ID, 1);
  const { DatabaseSync } = await import("node:sqlite");
  for (const owner of ["{", "null", "[]", '{"lock":"../../x"}', "process 1 on host"]) {
    const database = new DatabaseSync(fileOf(directory));
    database.prepare("UPDATE writer SET owner = ?").run(owner);
    database.close();
    await (await store.open(ID)).close();
  }
});

test("a copy of an open conversation's file in another place is free", async () => {
  const directory = await temporaryDirectory();
  const log = await storeIn(directory).open(ID, { create: true });
  const written = events(log, 3);
  await log.append(written);
  const copy = await temporaryDirectory();
  await cp(join(directory, "conversations"), join(copy, "conversations"), { recursive: true });
  expect(await readAll(await storeIn(copy).open(ID))).toEqual(written);
});

test("a store leaves no lock behind, and clears away those of processes that were killed", async () => {
  const directory = await temporaryDirectory();
  const locks = () => readdirSync(join(directory, "writers")).length;
  const { child, lines } = run(directory, WAITS);
  await nextLine(lines);
  await kill(child);
  expect(locks()).toBe(1);
  writeFileSync(join(directory, "writers", "01rubbish.lock"), "not a lock".repeat(1000));
  const store = sqliteStore({ directory });
  await store.open(OTHER, { create: true });
  expect(locks()).toBe(1);
  await store.close();
  expect(locks()).toBe(0);
});
