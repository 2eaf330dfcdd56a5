import fs, {
  chmodSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { pruneSnapshots } from "./prune-snapshots.ts";
import { Scene, scopeOf } from "./scene.fixture.ts";
import { treeOf } from "./tree.fixture.ts";

test("E7: a kind that changes is restored: a folder for a file, a link for a folder, and closed folders", async () => {
  using scene = new Scene({ "one/inner.txt": "1\n", two: "2\n", "three/deep/x": "3\n" });
  symlinkSync("two", scene.path("four"));
  mkdirSync(scene.path("empty"));
  chmodSync(scene.path("three/deep"), 0o555);
  const before = treeOf(scene.root);
  const snapshots = scene.open();
  const message = await scene.command(snapshots, () => {
    chmodSync(scene.path("three/deep"), 0o755);
    for (const path of ["one", "two", "three", "four", "empty"]) rmSync(scene.path(path), { recursive: true });
    writeFileSync(scene.path("one"), "file\n");
    mkdirSync(scene.path("two/new"), { recursive: true });
    symlinkSync("one", scene.path("three"));
    writeFileSync(scene.path("four"), "file\n");
  });
  expect((await scene.rewind(snapshots, message)).problems).toEqual([]);
  expect(treeOf(scene.root)).toEqual(before);
});

test("E8: a rewind changes nothing in .git, also not in the repository of a folder below", async () => {
  using scene = new Scene({
    "a.txt": "old\n",
    ".git/index": "index\n",
    "lib/.git/HEAD": "ref\n",
    "lib/b.txt": "old\n",
  });
  const snapshots = scene.open();
  const message = await scene.command(snapshots, () => {
    for (const path of ["a.txt", "lib/b.txt", ".git/index", "lib/.git/HEAD"]) writeFileSync(scene.path(path), "new\n");
  });
  const stamps = () => [".git/index", "lib/.git/HEAD"].map((path) => statSync(scene.path(path)).ctimeMs);
  const before = stamps();
  await scene.rewind(snapshots, message);
  expect(["a.txt", "lib/b.txt", ".git/index", "lib/.git/HEAD"].map((path) => scene.read(path))).toEqual([
    "old\n",
    "old\n",
    "new\n",
    "new\n",
  ]);
  expect(stamps()).toEqual(before);
});

test("E7: caches that a lock file rebuilds, large files, and ignored files over the limit are named, not restored", async () => {
  using scene = new Scene({
    ".gitignore": "node_modules\n*.log\n",
    "package.json": "{}\n",
    "node_modules/x/index.js": "1\n",
    "small.log": "1\n",
    "z.log": "x".repeat(900),
    "large.bin": "x".repeat(5000),
  });
  mkdirSync(scene.path(".git"));
  const snapshots = scene.open({ file: 4000, ignored: 600 });
  const message = await scene.command(snapshots, () => {
    for (const path of ["node_modules/x/index.js", "small.log", "z.log", "large.bin"])
      writeFileSync(scene.path(path), "2\n");
  });
  const plan = await scene.plan(snapshots, message);
  expect(plan.files.map(({ path, canRestore }) => [path, canRestore])).toEqual([
    ["large.bin", false],
    ["small.log", true],
    ["z.log", false],
  ]);
  expect(plan.leftOut).toEqual([{ path: "node_modules", why: "cache" }]);
  const { problems } = await snapshots.restore(plan, scopeOf("talk"));
  expect(problems).toEqual([
    "The earlier content of large.bin was not kept, so it was not restored.",
    "The earlier content of z.log was not kept, so it was not restored.",
  ]);
  expect(["small.log", "z.log", "node_modules/x/index.js"].map((path) => scene.read(path))).toEqual([
    "1\n",
    "2\n",
    "2\n",
  ]);
});

test("E10: a plan names who changed a file, and a restoration can leave files of others as they are", async () => {
  using scene = new Scene({ "agent.txt": "old\n", "user.txt": "old\n", "both.txt": "old\n" });
  const snapshots = scene.open();
  const message = await scene.command(snapshots, () => {
    for (const path of ["agent.txt", "both.txt"]) writeFileSync(scene.path(path), "agent\n");
  });
  writeFileSync(scene.path("user.txt"), "user\n");
  await scene.command(snapshots, () => {});
  writeFileSync(scene.path("both.txt"), "user\n");
  await scene.command(snapshots, () => writeFileSync(scene.path("other.txt"), "other\n"), "another");
  expect(await scene.authors(snapshots, message)).toEqual({
    "agent.txt": "agent",
    "both.txt": "both",
    "other.txt": "others",
    "user.txt": "others",
  });
  const plan = await scene.plan(snapshots, message);
  expect(
    (await snapshots.restore(plan, scopeOf("talk"), new Set(["agent.txt"]))).files.map(({ path }) => path),
  ).toEqual(["agent.txt"]);
  expect([scene.read("agent.txt"), scene.read("both.txt"), scene.names()]).toEqual([
    "old\n",
    "user\n",
    ["agent.txt", "both.txt", "other.txt", "user.txt"],
  ]);
});

test("E10: a file that changes after the comparison stays as it is", async () => {
  using scene = new Scene({ "a.txt": "old\n", "b.txt": "old\n" });
  const snapshots = scene.open();
  const message = await scene.command(snapshots, () => {
    for (const path of ["a.txt", "b.txt"]) writeFileSync(scene.path(path), "new\n");
  });
  const plan = await scene.plan(snapshots, message);
  writeFileSync(scene.path("b.txt"), "just now\n");
  const { files, problems } = await snapshots.restore(plan, scopeOf("talk"));
  expect(files.map(({ path, kind, diff }) => [path, kind, diff.includes("+old")])).toEqual([
    ["a.txt", "changed", true],
  ]);
  expect(problems).toEqual(["b.txt was changed meanwhile, so it was not restored."]);
  expect([scene.read("a.txt"), scene.read("b.txt")]).toEqual(["old\n", "just now\n"]);
});

test("E9: the first step of a tool that names its files keeps only these contents; a command keeps all", async () => {
  using scene = new Scene({ "a.txt": "one\n", "b.txt": "two\n" });
  const snapshots = scene.open();
  await snapshots.before({ conversation: "talk", message: "edit", call: "c" }, new Set(["a.txt"]));
  const size = storeBytes(scene);
  writeFileSync(scene.path("a.txt"), "ONE\n");
  await snapshots.after({ conversation: "talk", message: "edit", call: "c" }, ["a.txt"]);
  writeFileSync(scene.path("b.txt"), "user\n");
  const plan = await scene.plan(snapshots, "edit");
  expect(plan.files.map(({ path, by, canRestore }) => [path, by, canRestore])).toEqual([
    ["a.txt", "agent", true],
    ["b.txt", "others", false],
  ]);
  expect(size).toBeGreaterThan(0);
  const message = await scene.command(snapshots, () => writeFileSync(scene.path("b.txt"), "command\n"));
  expect((await scene.rewind(snapshots, message)).problems).toEqual([]);
  expect(scene.read("b.txt")).toBe("user\n");
});

test("E9: a change within the same clock tick, with the same size and times, is noticed", async () => {
  using scene = new Scene({ "a.txt": "old\n" });
  const snapshots = scene.open();
  const time = new Date();
  utimesSync(scene.path("a.txt"), time, time);
  const message = await scene.command(snapshots, () => {
    writeFileSync(scene.path("a.txt"), "new\n");
    utimesSync(scene.path("a.txt"), time, time);
  });
  await scene.rewind(snapshots, message);
  expect(scene.read("a.txt")).toBe("old\n");
});

test("E9: a later snapshot lists only changed folders, and opens only changed files", async () => {
  using scene = new Scene(Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`${index}/a.txt`, "old\n"])));
  // All files changed long before the first snapshot.
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 10_000 });
  const calls = { readdirSync: vi.spyOn(fs, "readdirSync"), openSync: vi.spyOn(fs, "openSync") };
  syncBuiltinESMExports();
  onTestFinished(() => {
    vi.useRealTimers();
    for (const call of Object.values(calls)) call.mockRestore();
    syncBuiltinESMExports();
  });
  const snapshots = scene.open();
  await scene.command(snapshots, () => {});
  for (const call of Object.values(calls)) call.mockClear();
  const message = await scene.command(snapshots, () => {
    writeFileSync(scene.path("7/a.txt"), "new\n");
    writeFileSync(scene.path("9/b.txt"), "new\n");
    rmSync(scene.path("11/a.txt"));
  });
  // The root of both scans, and folders 9 and 11.
  expect(calls.readdirSync.mock.calls).toHaveLength(4);
  // Besides the store: these folders, folder 7, its file, and the new file.
  const opened = calls.openSync.mock.calls.filter(([path]) => !String(path).startsWith(scene.stores));
  expect(opened).toHaveLength(7);
  expect(await scene.authors(snapshots, message)).toEqual({
    "7/a.txt": "agent",
    "9/b.txt": "agent",
    "11/a.txt": "agent",
  });
});

test("E9: the store grows by at most 1.2 times the changed bytes", async () => {
  using scene = new Scene(
    Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`src/${index % 20}/file${index}.ts`, noise(4000)])),
  );
  const snapshots = scene.open();
  await scene.command(snapshots, () => {});
  const before = storeBytes(scene);
  let changed = 0;
  for (let turn = 0; turn < 10; turn++)
    await scene.command(snapshots, () => {
      for (let index = 0; index < 5; index++) {
        const content = noise(20_000);
        changed += content.length;
        writeFileSync(scene.path(`src/${turn}/file${turn + 20 * index}.ts`), content);
      }
    });
  expect((storeBytes(scene) - before) / changed).toBeLessThan(1.2);
});

test("E9: snapshots go with their conversation and with age, and the contents of others stay", async () => {
  using scene = new Scene({ "a.txt": noise(40_000) });
  const snapshots = scene.open();
  const kept = await scene.command(snapshots, () => writeFileSync(scene.path("a.txt"), noise(40_000)));
  for (let count = 0; count < 20; count++)
    await scene.command(snapshots, () => writeFileSync(scene.path("a.txt"), noise(40_000)), "removed");
  const full = storeBytes(scene);
  const bounds = { days: 30, bytes: 1e9 };
  await pruneSnapshots(scene.stores, bounds, async (conversation) => conversation === "removed");
  expect(storeBytes(scene)).toBe(full);
  await age(scene);
  // A second removal on the same day does nothing.
  await pruneSnapshots(scene.stores, bounds, async () => true);
  expect(storeBytes(scene)).toBe(full);
  rmSync(join(scene.stores, "pruned"));
  await pruneSnapshots(scene.stores, bounds, async (conversation) => conversation === "removed");
  expect(storeBytes(scene)).toBeLessThan(full / 4);
  expect((await scene.rewind(snapshots, kept)).problems).toEqual([]);
  await age(scene);
  rmSync(join(scene.stores, "pruned"));
  await pruneSnapshots(scene.stores, { days: 1 / 48, bytes: 1e9 }, async () => false);
  expect(readdirSync(scene.stores)).toEqual(["pruned"]);
});

test("E9: a workspace that is too large has no snapshots, and says so", async () => {
  using scene = new Scene({ a: "1", b: "2", c: "3" });
  const snapshots = scene.open({ entries: 2 });
  await expect(snapshots.before({ conversation: "talk", message: "m", call: "c" }, "all")).rejects.toThrow(
    "more than 2 files and folders",
  );
});

test("E7: a damaged store is put aside, and later snapshots work", async () => {
  using scene = new Scene({ "a.txt": "old\n" });
  const snapshots = scene.open();
  await scene.command(snapshots, () => {});
  for (const name of readdirSync(scene.stores)) writeFileSync(join(scene.stores, name), "no database".repeat(1000));
  const message = await scene.command(snapshots, () => writeFileSync(scene.path("a.txt"), "new\n"));
  await scene.rewind(snapshots, message);
  expect(scene.read("a.txt")).toBe("old\n");
});

function noise(bytes: number): Buffer {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes)));
}

function storeBytes({ stores }: Scene): number {
  return readdirSync(stores).reduce((sum, name) => sum + statSync(join(stores, name)).size, 0);
}

/** Makes all moments two hours older. */
async function age({ stores }: Scene): Promise<void> {
  const { DatabaseSync } = await import("node:sqlite");
  for (const name of readdirSync(stores).filter((each) => each.endsWith(".sqlite"))) {
    const database = new DatabaseSync(join(stores, name));
    database.exec("UPDATE moments SET at = at - 7200000");
    database.close();
  }
}
