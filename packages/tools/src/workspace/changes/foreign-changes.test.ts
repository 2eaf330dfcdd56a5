import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openWorkspace } from "../files/paths.ts";
import { TestFolder } from "../test-folder.fixture.ts";
import { ForeignChanges } from "./foreign-changes.ts";
import { undoChange } from "./undo.ts";

function place(files: Readonly<Record<string, string>>) {
  const folder = new TestFolder(files);
  const backups = mkdtempSync(join(tmpdir(), "banyan-backups-"));
  onTestFinished(() => {
    folder[Symbol.dispose]();
    rmSync(backups, { recursive: true });
  });
  const workspace = openWorkspace(folder.root);
  return { folder, backups, workspace, changes: new ForeignChanges(workspace, { backups }) };
}

test("a file that is noted before its change, creation or deletion can be restored byte for byte", async () => {
  const { folder, backups, workspace, changes } = place({ "a.txt": "old\n", "gone.txt": "there\n" });
  const call = changes.begin();
  for (const path of ["a.txt", folder.path("new.txt"), "gone.txt", "a.txt"]) await call.note(path);
  folder.add("a.txt", "new\n");
  folder.add("new.txt", "made\n");
  rmSync(folder.path("gone.txt"));
  const made = await call.settle();
  expect(made.map(({ path, kind, added, removed }) => [path, kind, added, removed])).toEqual([
    ["a.txt", "changed", 1, 1],
    ["new.txt", "created", 1, 0],
    ["gone.txt", "deleted", 0, 1],
  ]);
  for (const change of made) await undoChange(workspace, backups, change);
  expect([folder.read("a.txt"), folder.read("gone.txt"), folder.names()]).toEqual([
    "old\n",
    "there\n",
    ["a.txt", "gone.txt"],
  ]);
});

test("two parallel calls on one file each have their own part of its change", async () => {
  const { folder, backups, workspace, changes } = place({ "a.txt": "0\n" });
  const [first, second] = [changes.begin(), changes.begin()];
  await first.note("a.txt");
  await second.note("a.txt");
  folder.add("a.txt", "1\n");
  const [one] = await first.settle();
  folder.add("a.txt", "2\n");
  const [two] = await second.settle();
  expect([one?.after, two?.kind]).toEqual([two?.before, "changed"]);
  await undoChange(workspace, backups, two!);
  expect(folder.read("a.txt")).toBe("1\n");
  await undoChange(workspace, backups, one!);
  expect(folder.read("a.txt")).toBe("0\n");
});

test("a file noted too late is restored from the reported change, if only one place fits", async () => {
  const { folder, backups, workspace, changes } = place({ "a.txt": "x new y\n", "b.txt": "new new\n", "c.txt": "all" });
  const call = changes.begin();
  await call.note("a.txt");
  const told = [
    { path: "a.txt", oldText: "old", newText: "new" },
    { path: "b.txt", oldText: "old", newText: "new" },
    { path: "c.txt", oldText: null, newText: "all" },
    { path: "../outside/secret.txt", oldText: "x", newText: "secret" },
  ];
  const made = await call.settle(told);
  expect(made.map(({ path, kind }) => [path, kind])).toEqual([["a.txt", "changed"]]);
  await undoChange(workspace, backups, made[0]!);
  expect(folder.read("a.txt")).toBe("x old y\n");
});

test("files outside the workspace, and unchanged files, are no changes", async () => {
  const { folder, changes } = place({ "a.txt": "same\n", "sub/b.txt": "" });
  const call = changes.begin();
  for (const path of ["a.txt", "sub", "../outside/secret.txt", "", "a.txt/b", "x\0"]) await call.note(path);
  folder.add("a.txt", "same\n");
  expect(await call.settle()).toEqual([]);
});

test("F105: Banyan finds changes of files that no call names; it cannot restore a large file, and does not remove it", async () => {
  const large = "x".repeat(1024 * 1024 + 1);
  const { folder, backups, workspace, changes } = place({
    "a.txt": "old",
    "large.txt": large,
    "same.txt": "same",
    "held.txt": "1",
  });
  folder.add(".gitignore", "built/\n");
  await changes.noteAll();
  expect(await changes.unnamed()).toEqual([]);
  const call = changes.begin();
  await call.note("held.txt");
  folder.add("a.txt", "new");
  folder.add("large.txt", `${large}y`);
  folder.add("same.txt", "same");
  folder.add("held.txt", "2");
  folder.add("built/out.txt", "made");
  folder.add("deep/made.txt", "made");
  const made = await changes.unnamed();
  expect(made.map(({ path, kind }) => [path, kind])).toEqual([
    ["a.txt", "changed"],
    ["large.txt", "changed"],
    ["deep/made.txt", "created"],
  ]);
  expect(await changes.unnamed()).toEqual([]);
  expect((await call.settle()).map(({ path }) => path)).toEqual(["held.txt"]);
  expect(await changes.unnamed()).toEqual([]);
  const [small, big] = made;
  await undoChange(workspace, backups, small!);
  expect(folder.read("a.txt")).toBe("old");
  await expect(undoChange(workspace, backups, big!)).rejects.toThrow(/is not kept any more/);
  expect(folder.read("large.txt")).toBe(`${large}y`);
});

test("F105: a change appears once in 200 random turns of three calls, in its call or without one", async () => {
  let seed = 105;
  const below = (n: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * n);
  };
  const names = ["a.txt", "b.txt", "c.txt"];
  for (let turn = 0; turn < 200; turn++) {
    const { folder, changes } = place(Object.fromEntries(names.slice(0, below(4)).map((name) => [name, "0"])));
    await changes.noteAll();
    for (let number = 1; number <= 3; number++) {
      const call = changes.begin();
      const named = names.filter(() => below(2) === 0);
      for (const name of named) await call.note(name);
      const was = new Map(names.map((name) => [name, folder.names().includes(name) ? folder.read(name) : undefined]));
      for (const name of names) {
        if (below(2) === 0) folder.add(name, `${turn} ${number} ${below(2)}`);
        else if (below(4) === 0) rmSync(folder.path(name), { force: true });
      }
      // The judge only compares the files.
      const differs = names.filter(
        (name) => was.get(name) !== (folder.names().includes(name) ? folder.read(name) : undefined),
      );
      const told = [...(await call.settle()), ...(await changes.unnamed())].map(({ path }) => path);
      expect(told.toSorted(), `turn ${turn}, call ${number}`).toEqual(differs);
    }
    folder[Symbol.dispose]();
  }
});
