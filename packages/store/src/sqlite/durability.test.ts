import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ID, temporaryDirectory } from "./store.fixture.ts";

/** Flushes are only visible from outside the process, as system calls. */
const canTrace = spawnSync("strace", ["-o", "/dev/null", "true"]).status === 0;

/** Opens a conversation as `log`. */
const OPEN = `const log = await store.open(${JSON.stringify(ID)}, { create: true })`;

/** Returns the system calls with these names, one per line, during each statement after `first`. */
async function callsOf(
  names: string,
  directory: string,
  statements: readonly string[],
  first = OPEN,
): Promise<string[][]> {
  const program = `
    import { utimesSync, writeSync } from "node:fs";
    import { sqliteStore } from ${JSON.stringify(import.meta.resolve("./index.ts"))};
    const store = sqliteStore({ directory: ${JSON.stringify(directory)}, openFiles: 3 });
    const next = (log) => ({ type: "model.changed", model: "a/b", seq: log.seq + 1, epoch: log.epoch, at: 1 });
    const event = () => next(log);
    ${first};
    ${statements.map((statement) => `writeSync(1, "mark"); ${statement};`).join("\n")}`;
  const trace = join(directory, "trace");
  const strace = ["-f", "-y", "-e", `trace=${names},write`, "-o", trace, process.execPath];
  const child = spawn("strace", [...strace, "--input-type=module", "--eval", program], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  expect(await once(child, "exit")).toEqual([0, null]);
  const calls = new RegExp(`\\b(${names.replaceAll(",", "|")})\\(`);
  return readFileSync(trace, "utf8")
    .split(/write\(1<[^>]*>, "mark"/)
    .slice(1)
    .map((part) => part.split("\n").filter((line) => calls.test(line)));
}

test.runIf(canTrace)("durable appends are flushed to the disk and others are not", async () => {
  const flushes = await callsOf("fsync,fdatasync", await temporaryDirectory(), [
    // The first events also flush the folder, with the new file's name.
    "log.append([event()])",
    "log.append([event()])",
    "log.append([event()], { durable: true })",
    "log.append([event()])",
    // Even without new events, earlier events are flushed.
    "log.append([], { durable: true })",
    "log.append([], { durable: true })",
    "log.append([event()])",
    "0",
  ]);
  expect(flushes.slice(0, 7).map((calls) => calls.length)).toEqual([2, 0, 1, 0, 1, 1, 0]);
});

test.runIf(canTrace)(
  "a durable append looks for its files only where something in their directory changed",
  async () => {
    const directory = await temporaryDirectory();
    const place = JSON.stringify(join(directory, "conversations"));
    // Further apart than the 20 ms between two checks of the directory.
    const append = `await new Promise((done) => setTimeout(done, 30)); log.append([event()], { durable: true })`;
    const [, , looks] = await callsOf("stat,statx,newfstatat", directory, [
      // The last change of the directory is long ago.
      `${append}; utimesSync(${place}, 1, 1)`,
      append,
      `for (let more = 0; more < 10; more++) { ${append} }`,
      "0",
    ]);
    expect(looks?.filter((call) => call.includes(".sqlite"))).toEqual([]);
    expect(looks).toHaveLength(10);
  },
);

/** The flushed and renamed files of system calls, with the conversation's id as `ID`. */
function filesOf(calls: readonly string[], directory: string): string[] {
  return calls.map((line) => {
    const paths = [...line.matchAll(/["<](\/[^">]*)[">]/g)].map(([, path = ""]) => path.slice(directory.length + 1));
    return `${/\brename/.test(line) ? "rename" : "flush"} ${paths.join(" ")}`.replaceAll(ID, "ID");
  });
}

const ANOTHER = `const another = await store.open("01k00000000000000000000009", { create: true })`;

test.runIf(canTrace)("V7 a conversation of two flushed appends takes seven flushes", async () => {
  const directory = await temporaryDirectory();
  const calls = await callsOf(
    "fsync,fdatasync,rename",
    directory,
    [
      OPEN,
      "log.append([event()], { durable: true })",
      "log.append([event()], { durable: true })",
      "await log.close()",
      "0",
    ],
    // The folders are new only once.
    `${ANOTHER}; another.append([next(another)])`,
  );
  expect(calls.slice(0, 4).map((part) => filesOf(part, directory))).toEqual([
    [
      "flush conversations/ID.sqlite.new",
      "rename conversations/ID.sqlite.new conversations/ID.sqlite",
      "flush rights/begun.txt",
    ],
    ["flush conversations/ID.sqlite-wal", "flush conversations"],
    ["flush conversations/ID.sqlite-wal"],
    ["flush conversations/ID.sqlite-wal", "flush conversations/ID.sqlite"],
  ]);
});

test.runIf(canTrace)(
  "V7 an existing conversation flushes its epoch, and the name of its write-ahead log, once",
  async () => {
    const directory = await temporaryDirectory();
    const [opened] = await callsOf(
      "fsync,fdatasync",
      directory,
      [OPEN, "0"],
      `{ ${OPEN}; log.append([next(log)]); await log.close(); }`,
    );
    expect(filesOf(opened ?? [], directory)).toEqual(["flush conversations/ID.sqlite-wal", "flush conversations"]);
  },
);

test.runIf(canTrace)("V7 conversations beyond the open files are written in turn without flushes", async () => {
  const directory = await temporaryDirectory();
  const [written] = await callsOf(
    "fsync,fdatasync",
    directory,
    ["for (let round = 0; round < 5; round++) for (const log of logs) log.append([next(log)])", "0"],
    `const logs = [];
    for (let index = 10; index < 30; index++) logs.push(await store.open("01k000000000000000000000" + index, { create: true }));
    for (const log of logs) log.append([next(log)])`,
  );
  expect(written).toEqual([]);
});
