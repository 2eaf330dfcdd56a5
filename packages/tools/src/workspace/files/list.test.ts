import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { expect, test } from "vitest";
import { call, TestFolder } from "../test-folder.fixture.ts";
import { listTool } from "./list.ts";
import { openWorkspace } from "./paths.ts";

test("B36: list is sorted, with sizes of files and a / behind folders", async () => {
  using folder = new TestFolder({ "b.txt": "12345", "a/inner.txt": "1", ".hidden": "" });
  symlinkSync("b.txt", folder.path("link"));
  execFileSync("mkfifo", [folder.path("pipe")]);
  expect(await call(listTool(openWorkspace(folder.root)), { path: "." })).toBe(
    ".hidden (0 bytes)\na/\nb.txt (5 bytes)\nlink -> b.txt\npipe (a named pipe)\n",
  );
});

test("B36: list goes down to the depth, with paths from the workspace, and never through links", async () => {
  using folder = new TestFolder({ "a/b/c/d.txt": "", "a/x.txt": "" });
  symlinkSync(".", folder.path("a/around"));
  symlinkSync(folder.outside, folder.path("a/out"));
  const tool = listTool(openWorkspace(folder.root));
  expect(await call(tool, { path: "a", depth: 2 })).toBe(
    `a/around -> .\na/b/\na/b/c/\na/out -> ${folder.outside}\na/x.txt (0 bytes)\n`,
  );
  expect(await call(tool, { path: ".", depth: 20 })).toContain("a/b/c/d.txt");
});

test(".gitignore files are honoured at every level, and .git is left out", async () => {
  using folder = new TestFolder({
    ".git/HEAD": "",
    ".gitignore": "*.log\n/build/\nnode_modules\n",
    "a.log": "",
    "build/x": "",
    "src/build/y": "",
    "src/node_modules/z/i.js": "",
    "src/.gitignore": "!keep.log\n*.tmp\n",
    "src/keep.log": "",
    "src/b.tmp": "",
    "b.tmp": "",
  });
  const text = await call(listTool(openWorkspace(folder.root)), { path: ".", depth: 9 });
  expect(text.replace(/ \(\d+ bytes\)/g, "")).toBe(
    ".gitignore\nb.tmp\nsrc/\nsrc/.gitignore\nsrc/build/\nsrc/build/y\nsrc/keep.log\n[left out because of .gitignore: 4]\n",
  );
  expect(await call(listTool(openWorkspace(folder.root)), { path: "src" })).not.toContain("b.tmp");
});

test("list shows the content of an ignored folder that the call names", async () => {
  using folder = new TestFolder({ ".gitignore": "node_modules\n", "node_modules/a/i.js": "1" });
  const tool = listTool(openWorkspace(folder.root));
  expect(await call(tool, { path: "node_modules", depth: 2 })).toBe("node_modules/a/\nnode_modules/a/i.js (1 bytes)\n");
});

test("F79: list names a folder that cannot be opened", async () => {
  using folder = new TestFolder({ "a.txt": "" });
  mkdirSync(Buffer.concat([Buffer.from(`${folder.root}/b`), Buffer.from([0xff])]));
  const tool = listTool(openWorkspace(folder.root));
  expect(await call(tool, { path: ".", depth: 2 })).toBe("a.txt (0 bytes)\nb\ufffd/\n[cannot be opened: b\ufffd]\n");
});

test("list ignores a rule that would match for ever", async () => {
  using folder = new TestFolder({ ".gitignore": `${"*a".repeat(40)}b\n*.log\n`, "x.log": "" });
  folder.add("a".repeat(200), "");
  const text = await call(listTool(openWorkspace(folder.root)), { path: "." });
  expect(text).toContain("aaaa");
  expect(text).not.toContain("x.log");
});

test("a large folder is cut, with a count", async () => {
  using folder = new TestFolder();
  for (let number = 1; number <= 1200; number += 1) folder.add(`file-${String(number).padStart(4, "0")}`, "");
  const text = await call(listTool(openWorkspace(folder.root)), { path: "." });
  expect(text).toContain("file-1000 ");
  expect(text).not.toContain("file-1001 ");
  expect(text).toMatch(/\[the first 1000 of 1200 entries; list a folder in it/);
});

test("list reports an empty folder, a missing folder and a file differently", async () => {
  using folder = new TestFolder({ "a.txt": "" });
  const tool = listTool(openWorkspace(folder.outside));
  expect(await call(listTool(openWorkspace(folder.root)), { path: "a.txt" }).catch((error) => error.message)).toBe(
    "a.txt is a file, not a folder. Use read for a file.",
  );
  await expect(call(tool, { path: "none" })).rejects.toThrow("There is no folder none.");
});

test("S12: list shows a name with terminal sequences as data", async () => {
  using folder = new TestFolder({ "a\x1b[2J\nb": "" });
  expect(await call(listTool(openWorkspace(folder.root)), { path: "." })).toBe('"a\\u001b[2J\\nb" (0 bytes)\n');
});
