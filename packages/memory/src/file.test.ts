import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { Agent, say } from "@banyan/core";
import { collect, scriptedModel } from "@banyan/core/testing";
import { expect, onTestFinished, test } from "vitest";
import { sqliteMemory } from "./index.ts";
import { LARGE, memoryIn, padding, recalled, said, temporaryFile } from "./memory.fixture.ts";

/** A closed file with this many entries. */
async function written(count: number): Promise<string> {
  const file = await temporaryFile();
  await using memory = sqliteMemory({ file });
  await memory.remember(padding(count));
  return file;
}

/** Starts a program with a memory. `begin` lets the program continue where it waits. */
function start(file: string, body: string, command: readonly string[] = [process.execPath]) {
  const [program = "", ...parameters] = command;
  const source = `
    import { once } from "node:events";
    import { sqliteMemory } from ${JSON.stringify(import.meta.resolve("./index.ts"))};
    const file = ${JSON.stringify(file)};
    const memory = sqliteMemory({ file });
    const said = (text, conversation) => ({ text, conversation, at: 1, role: "user" });
    ${body}`;
  const child = spawn(program, [...parameters, "--input-type=module", "--eval", source], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ready = once(child.stdout, "readable");
  const output = Promise.all([text(child.stdout), once(child, "exit")]).then(([said]) => said);
  return { ready, begin: () => child.stdin.end("\n"), output };
}

/** The last output of such a program. */
async function run(file: string, body: string, command?: readonly string[]): Promise<string> {
  return start(file, body, command).output;
}

const damages: readonly (readonly [string, (file: string) => void])[] = [
  ["is no database", (file) => writeFileSync(file, "not a database at all, for sure".repeat(100))],
  ["is cut", (file) => truncateSync(file, 8192)],
  [
    "is of zeros but for its header",
    (file) => {
      const bytes = readFileSync(file);
      writeFileSync(file, bytes.fill(0, 4096));
    },
  ],
  [
    "lacks a table",
    (file) => {
      using database = new DatabaseSync(file);
      database.exec("DROP TABLE sources");
    },
  ],
];

for (const [what, damage] of damages) {
  test.each([3, LARGE])(
    `F8 memory refuses a file of %i entries that ${what}, and the error names a remedy`,
    async (count) => {
      const file = await written(count);
      damage(file);
      const memory = await memoryIn({ file });
      const refused = {
        name: "MemoryError",
        code: "damaged",
        message: expect.stringMatching(/replace the file with a backup, or move the file away/),
      };
      await expect(recalled(memory, "filler")).rejects.toMatchObject(refused);
      await expect(memory.list()).rejects.toMatchObject(refused);
      await expect(memory.remember([said("One more thing is said.")])).rejects.toMatchObject(refused);
    },
  );
}

test("B6 F8: a turn with a damaged memory runs without memory, and the feed has a notice", async () => {
  const file = await written(3);
  writeFileSync(file, "not a database at all, for sure".repeat(100));
  const agent = new Agent({ model: scriptedModel(["Hello."]), memory: { store: await memoryIn({ file }) } });
  const items = await collect(agent.chat(say("What did I say of fillers?")));
  const skipped = { type: "memory.skipped", reason: expect.stringMatching(/is damaged.*move the file away/) };
  expect(items).toContainEqual(expect.objectContaining(skipped));
  expect(items.at(-1)).toEqual({ type: "chat.ended", reason: "answered" });
});

test("memory refuses a file of a newer version or another program, and does not change the file", async () => {
  const file = await temporaryFile();
  using database = new DatabaseSync(file);
  database.exec("CREATE TABLE theirs (a); PRAGMA user_version = 0");
  const memory = await memoryIn({ file });
  await expect(memory.list()).rejects.toMatchObject({
    code: "unusable",
    message: expect.stringMatching(/another program/),
  });
  database.exec("PRAGMA user_version = 99");
  await expect(memory.add({ text: "Tea." })).rejects.toMatchObject({
    code: "unusable",
    message: expect.stringMatching(/newer version/),
  });
  expect(database.prepare("SELECT name FROM sqlite_schema").all()).toEqual([{ name: "theirs" }]);
});

test("the error for a file that cannot be created or opened names a remedy", async () => {
  const file = await temporaryFile();
  writeFileSync(join(dirname(file), "blocked"), "");
  const below = await memoryIn({ file: join(dirname(file), "blocked", "memory.sqlite") });
  await expect(below.add({ text: "Tea." })).rejects.toMatchObject({
    code: "unusable",
    message: expect.stringMatching(/check that/),
  });
  mkdirSync(file);
  const memory = await memoryIn({ file });
  await expect(memory.list()).rejects.toMatchObject({ code: "unusable", message: expect.stringMatching(/check that/) });
});

test("S13: the file and its directory are for their owner only", async () => {
  const file = join(dirname(await temporaryFile()), "a", "b", "memory.sqlite");
  const memory = await memoryIn({ file });
  await memory.add({ text: "Tea." });
  expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(dirname(file))) expect(statSync(join(dirname(file), name)).mode & 0o777).toBe(0o600);
});

test("B45: entries survive a restart, and a closed memory is one file", async () => {
  const file = await written(LARGE);
  await using memory = sqliteMemory({ file });
  expect(await recalled(memory, "filler 77")).toContain("Filler 77 stands 539.");
  await memory.close();
  expect(readdirSync(dirname(file))).toEqual(["memory.sqlite"]);
});

test("each method of a closed memory rejects with the reason", async () => {
  const memory = await memoryIn({ file: await written(3) });
  await memory.close();
  for (const refused of [recalled(memory, "filler"), memory.list(), memory.add({ text: "Tea." }), memory.clear()]) {
    await expect(refused).rejects.toMatchObject({ code: "unusable", message: expect.stringMatching(/closed/) });
  }
});

test("F6: processes that create and write one memory at the same time lose no entry", async () => {
  const file = await temporaryFile();
  const body = (name: string) => `
    console.log("ready");
    await once(process.stdin, "data");
    for (let index = 0; index < 30; index++) {
      await memory.remember([said("Process ${name} says " + index, "${name}"), said("All of them say " + index, "${name}")]);
    }
    await memory.close();
    console.log("done");`;
  const writers = ["one", "two", "three"].map((name) => start(file, body(name)));
  await Promise.all(writers.map(({ ready }) => ready));
  for (const { begin } of writers) begin();
  for (const { output } of writers) expect(await output).toBe("ready\ndone\n");
  const memory = await memoryIn({ file });
  expect(await memory.list({ limit: 1000 })).toHaveLength(120);
  expect(await memory.search("process one says 7")).toHaveLength(1);
  // Entries from both remain known from the other.
  expect(await memory.clear({ conversation: "one" })).toBe(30);
});

test("B45: entries, removals and switches of another process take effect at once", async () => {
  const file = await written(LARGE);
  const memory = await memoryIn({ file });
  expect(await recalled(memory, "oak")).toEqual([]);
  await run(file, `await memory.remember([said("I planted an oak.", "a")]); await memory.close();`);
  expect(await recalled(memory, "oak")).toEqual(["I planted an oak."]);
  await run(file, `await memory.setOn("a", false); await memory.close();`);
  expect(await recalled(memory, "oak")).toEqual([]);
  await run(file, `await memory.setOn("a", true); await memory.clear({ conversation: "a" }); await memory.close();`);
  expect(await recalled(memory, "oak")).toEqual([]);
});

test("F1: remembered entries survive kill -9", async () => {
  const file = await temporaryFile();
  await run(file, `await memory.remember([said("I planted an oak.", "a")]); process.kill(process.pid, "SIGKILL");`);
  expect(await recalled(await memoryIn({ file }), "oak")).toEqual(["I planted an oak."]);
});

test("a process with an unused memory ends, and a running recall keeps the process alive", async () => {
  const file = await written(LARGE);
  const body = `
    const texts = [];
    for (const number of [7, 8, 9]) {
      const [item] = await memory.recall("filler " + number, { limit: 1, signal: new AbortController().signal });
      texts.push(item.text);
    }
    console.log(texts.join(" "));`;
  expect(await run(file, body)).toBe("Filler 7 stands 49. Filler 8 stands 56. Filler 9 stands 63.\n");
});

test("the error for a locked file names the other process", async () => {
  const file = await written(3);
  const memory = await memoryIn({ file });
  using other = new DatabaseSync(file);
  other.exec("BEGIN IMMEDIATE");
  await expect(memory.add({ text: "Tea." })).rejects.toMatchObject({
    code: "locked",
    message: expect.stringMatching(/another process/),
  });
  // Reading still works.
  expect(await memory.list()).toHaveLength(3);
  other.exec("ROLLBACK");
  expect(await memory.add({ text: "Tea." })).toMatchObject({ text: "Tea." });
});

// Needs a file system of its own, in a Linux user namespace.
const namespace = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"];
const mounts = "mount -t tmpfs -o size=1m banyan";
const canMount = await new Promise((resolve) => {
  const child = spawn("unshare", [...namespace.slice(1), `${mounts} /mnt`], { stdio: "ignore" });
  child.on("error", () => resolve(false));
  child.on("exit", (code) => resolve(code === 0));
});

test.runIf(canMount)("F7: a full disk is said, and costs nothing that was remembered", async () => {
  const file = join(dirname(await temporaryFile()), "full", "memory.sqlite");
  const script = `mkdir "$1" && ${mounts} "$1" && shift && exec "$@"`;
  const output = await run(
    file,
    `import { rmSync, writeFileSync } from "node:fs";
    import { dirname } from "node:path";
    const ballast = dirname(file) + "/ballast";
    writeFileSync(ballast, "x".repeat(200_000));
    let error, kept = 0;
    while (!error) {
      await memory.remember([said("Number " + kept + " is kept. " + "x".repeat(1000), "a")]).then(() => kept++, (caught) => (error = caught));
    }
    const listed = (await memory.list({ limit: 10_000 })).length;
    rmSync(ballast);
    await memory.remember([said("There is room again.", "a")]);
    const after = (await memory.list({ limit: 10_000 })).length;
    console.log(JSON.stringify({ code: error.code, message: error.message, kept, listed, after }));`,
    [...namespace, script, "sh", dirname(file), process.execPath],
  );
  const { code, message, kept, listed, after } = JSON.parse(output);
  expect(code).toBe("full");
  expect(message).toMatch(/free some space/);
  expect(kept).toBeGreaterThan(10);
  expect([listed, after]).toEqual([kept, kept + 1]);
});
