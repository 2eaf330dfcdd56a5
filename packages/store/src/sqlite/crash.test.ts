import { spawn } from "node:child_process";
import type { Event } from "@banyan/core";
import { expect, onTestFinished, test } from "vitest";
import { kill, linesOf, nextLine, run } from "./child.fixture.ts";
import { events, ID, OTHER, readAll, storeIn, temporaryDirectory, write } from "./store.fixture.ts";

for (const durable of [true, false]) {
  const how = durable ? "durable" : "plain";
  test(`F3 kill -9 in the middle of ${how} appends leaves whole appends, and all that were acknowledged`, async () => {
    const directory = await temporaryDirectory();
    const { child, lines } = run(
      directory,
      `for (;;) {
        log.append([1, 2, 3].map((step) => event(log.seq + step)), { durable: ${durable} });
        process.stdout.write(log.seq + "\\n");
        if (log.seq % 99 === 0) await new Promise(setImmediate);
      }`,
    );
    let acknowledged = 0;
    for await (const line of lines) {
      acknowledged = Number(line);
      if (acknowledged >= 600) break;
    }
    await kill(child);

    const store = storeIn(directory);
    const listed = await store.list();
    const log = await store.open(ID);
    const read = await readAll(log);
    expect(read.length).toBeGreaterThanOrEqual(acknowledged);
    expect(read.length % 3).toBe(0);
    expect(read).toEqual(read.map((_, index) => expected(index + 1)));
    expect(log.damage).toEqual([]);
    expect(listed).toMatchObject([{ id: ID, updatedAt: read.length }]);
    await log.append(events(log, 1));
    expect(log.seq).toBe(read.length + 1);
  });
}

test("V7 kill -9 leaves all events of conversations whose files were closed for others", async () => {
  const directory = await temporaryDirectory();
  const { child, lines } = run(
    directory,
    `const few = sqliteStore({ directory: ${JSON.stringify(directory)} + "/few", openFiles: 2 });
    const logs = [];
    for (let index = 10; index < 16; index++) logs.push(await few.open("01k000000000000000000000" + index, { create: true }));
    for (;;) {
      for (const log of logs) log.append([1, 2, 3].map((step) => ({ ...event(log.seq + step), epoch: log.epoch })));
      process.stdout.write(logs[0].seq + "\\n");
      await new Promise(setImmediate);
    }`,
  );
  let acknowledged = 0;
  for await (const line of lines) {
    acknowledged = Number(line);
    if (acknowledged >= 300) break;
  }
  await kill(child);
  const store = storeIn(`${directory}/few`);
  expect(await store.list()).toHaveLength(6);
  for (let index = 10; index < 16; index++) {
    const log = await store.open(`01k000000000000000000000${index}`);
    const read = await readAll(log);
    expect(read.length).toBeGreaterThanOrEqual(acknowledged);
    expect(read).toEqual(read.map((_, at) => expected(at + 1)));
    expect(log.damage).toEqual([]);
    await log.append(events(log, 1));
  }
});

function expected(seq: number): Event {
  return { type: "model.changed", model: "é".repeat(seq % 3000), seq, epoch: 1, at: seq };
}

test("F9 a conversation whose writer was killed is not busy: it opens at once", async () => {
  const directory = await temporaryDirectory();
  const { child, lines } = run(directory, `log.append([event(1)]); console.log("ready"); setInterval(() => {}, 1000);`);
  await nextLine(lines);
  await kill(child);
  const log = await storeIn(directory).open(ID);
  await log.append(events(log, 1), { durable: true });
  expect(log.seq).toBe(2);
});

test.runIf(process.env.BANYAN_LONG)(
  "F10 100,000 events and some very large ones are read in little memory",
  async () => {
    const directory = await temporaryDirectory();
    const store = storeIn(directory);
    const log = await store.open(ID, { create: true });
    const append = async (count: number, length: number) => {
      const model = "x".repeat(length);
      const next = Array.from({ length: count }, (_, index) => log.seq + 1 + index);
      await log.append(next.map((seq) => ({ type: "model.changed", model, seq, epoch: log.epoch, at: seq })));
    };
    for (let block = 0; block < 100; block++) await append(1000, 1000);
    for (let block = 0; block < 32; block++) await append(1, 4_000_000);
    await log.close();
    // 230 MB are read with a heap of 48 MB.
    const { lines } = run(
      directory,
      `let characters = 0;
    for await (const batch of log.read()) for (const event of batch) characters += event.model.length;
    console.log(characters);`,
      ["--max-old-space-size=48"],
    );
    const line = await nextLine(lines);
    expect(Number(line)).toBe(100 * 1000 * 1000 + 32 * 4_000_000);
  },
);

test("a list sees what another process is writing", async () => {
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  await write(store, OTHER, 1);
  const { child, lines } = run(
    directory,
    `const next = () => { log.append([event(log.seq + 1)]); console.log(log.seq); };
    next();
    process.stdin.on("data", next);`,
  );
  await nextLine(lines);
  expect(await store.list()).toMatchObject([{ updatedAt: 1 }, { updatedAt: 1 }]);
  child.stdin?.write("\n");
  await nextLine(lines);
  expect(await store.list({ limit: 1 })).toMatchObject([{ id: ID, updatedAt: 2 }]);
});

// Needs a separate file system, which Linux allows in a user namespace.
const mounts = "mount -t tmpfs -o size=1m banyan";
const canMount = await succeeds("unshare", ["--user", "--map-root-user", "--mount", "sh", "-c", `${mounts} /mnt`]);

test.runIf(canMount)("F7 a full disk is said, and costs nothing that was acknowledged", async () => {
  const directory = await temporaryDirectory();
  const program = `
    import { rmSync, writeFileSync } from "node:fs";
    import { sqliteStore } from ${JSON.stringify(import.meta.resolve("./index.ts"))};
    const directory = ${JSON.stringify(`${directory}/full`)};
    writeFileSync(directory + "/ballast", "x".repeat(100_000));
    let log = await sqliteStore({ directory }).open(${JSON.stringify(ID)}, { create: true });
    const event = (seq) => ({ type: "model.changed", model: "x".repeat(5000), seq, epoch: log.epoch, at: seq });
    let error;
    while (!error) try { log.append([event(log.seq + 1)], { durable: true }); } catch (caught) { error = caught; }
    const acknowledged = log.seq;
    const listed = await sqliteStore({ directory }).list();
    let intact = 0;
    for await (const batch of log.read()) intact += batch.filter((event) => event.model === "x".repeat(5000)).length;
    await log.close();
    const found = await sqliteStore({ directory }).search("nothing");
    // With free space again, the next process continues after the acknowledged events.
    rmSync(directory + "/ballast");
    log = await sqliteStore({ directory }).open(${JSON.stringify(ID)});
    const from = log.seq;
    log.append([event(log.seq + 1)], { durable: true });
    await log.close();
    console.log(JSON.stringify({ code: error.code, acknowledged, intact, listed: listed.length, found, from }));`;
  const script = `mkdir "$1/full" && ${mounts} "$1/full" && exec "$2" --input-type=module --eval "$3"`;
  const unshare = [
    "--user",
    "--map-root-user",
    "--mount",
    "sh",
    "-c",
    script,
    "sh",
    directory,
    process.execPath,
    program,
  ];
  const child = spawn("unshare", unshare, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const line = await nextLine(linesOf(child.stdout));
  const { code, acknowledged, intact, listed, found, from } = JSON.parse(line);
  expect(code).toBe("full");
  expect(acknowledged).toBeGreaterThan(10);
  expect(intact).toBe(acknowledged);
  expect(listed).toBe(1);
  expect(found).toEqual([]);
  expect(from).toBe(acknowledged);
});

async function succeeds(command: string, parameters: readonly string[]): Promise<boolean> {
  const child = spawn(command, parameters, { stdio: "ignore" });
  return new Promise((resolve) => {
    child.on("error", () => resolve(false));
    child.on("exit", (code) => resolve(code === 0));
  });
}
