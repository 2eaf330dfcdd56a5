// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are paths as users write them
import { symlinkSync } from "node:fs";
import { basename } from "node:path";
import { expect, test } from "vitest";
import { editTool } from "./edit.ts";
import { listTool } from "./list.ts";
import { meantPath } from "./named-path.ts";
import { locate, openWorkspace } from "./paths.ts";
import { readTool } from "./read.ts";
import { searchTool } from "./search.ts";
import { call, TestFolder } from "./test-folder.fixture.ts";
import { writeTool } from "./write.ts";

const HOME = "/home/me";

test.each([
  ["a.ts", "a.ts"],
  ["./a//b/../c.ts", "./a//b/../c.ts"],
  ["~", HOME],
  ["~/notes.md", `${HOME}/notes.md`],
  ["$HOME", HOME],
  ["$HOME/notes.md", `${HOME}/notes.md`],
  ["${HOME}/notes.md", `${HOME}/notes.md`],
  ["~\\notes.md", `${HOME}/notes.md`],
  ["$HOME\\a\\b", `${HOME}/a/b`],
  ["src/~/a.ts", "src/~/a.ts"],
  ["./~/a.ts", "./~/a.ts"],
  ["./$HOME/a.ts", "./$HOME/a.ts"],
  ["$HOMEWORK/a.ts", "$HOMEWORK/a.ts"],
  ["$id.tsx", "$id.tsx"],
  ["~$letter.docx", "~$letter.docx"],
  ["~1", "~1"],
  ["~kept/a.ts", "~kept/a.ts"],
  ["file:///etc/hosts", "/etc/hosts"],
  ["FILE:///etc/hosts", "/etc/hosts"],
  ["file:/etc/hosts", "/etc/hosts"],
  ["file://localhost/etc/hosts", "/etc/hosts"],
  ["file:///tmp/with%20blank/%C3%A9.txt", "/tmp/with blank/é.txt"],
  ["file:///tmp/%2e%2e/x", "/tmp/../x"],
  ["file:///~/x", "/~/x"],
  ["file.txt", "file.txt"],
  ["file:a.txt", "file:a.txt"],
  ["src\\a.ts", "src/a.ts"],
  [".\\src\\..\\a.ts", "./src/../a.ts"],
  ["..\\outside\\a.ts", "../outside/a.ts"],
  ["kept\\a.ts", "kept\\a.ts"],
  ["lib/kept\\b/new.ts", "lib/kept\\b/new.ts"],
  ["lib/other\\b/new.ts", "lib/other/b/new.ts"],
  ["src/cafe\u0301.ts", "src/cafe\u0301.ts"],
  ["a:b.txt", "a:b.txt"],
])("S35: %s means %s, and the meaning means itself", (named, meant) => {
  using folder = new TestFolder({ "kept\\a.ts": "", "lib/kept\\b/a.ts": "", "~kept/a.ts": "" });
  const base = { root: folder.root, home: HOME };
  expect(meantPath(named, base)).toBe(meant);
  expect(meantPath(meant, base)).toBe(meant);
});

test.each([
  [
    "~root/.profile",
    "~root/.profile names the home folder of another user, and only your own, ~, is known here. Write the whole path, or ./~root/.profile for a file of that name.",
  ],
  [
    "C:\\src\\a.ts",
    "C:\\src\\a.ts names a drive or a share of Windows, and there is none here. Name the file from the workspace, such as src/a.ts.",
  ],
  [
    "c:/src/a.ts",
    "c:/src/a.ts names a drive or a share of Windows, and there is none here. Name the file from the workspace, such as src/a.ts.",
  ],
  [
    "file:///C:/src/a.ts",
    "file:///C:/src/a.ts names a drive or a share of Windows, and there is none here. Name the file from the workspace, such as src/a.ts.",
  ],
  [
    "\\\\box\\share",
    "\\\\box\\share names a drive or a share of Windows, and there is none here. Name the file from the workspace, such as box/share.",
  ],
  [
    "file://box/src/a.ts",
    "file://box/src/a.ts names a file of the machine box. Write the path alone: box/src/a.ts, or file:///src/a.ts for one that starts at the root.",
  ],
  ...["file:///a%2Fb", "file:///a%5cb", "file:///a%00", "file:///a%zz", "file:///a?b", "file:///a#b"].map((named) => [
    named,
    `${named} is no address of a file: it has a ?, a #, a % that stands for no character, or an escaped separator. Write the path alone.`,
  ]),
] as [string, string][])(
  "S35: %s names no place of this machine, and the refusal says what to write",
  (named, message) => {
    using folder = new TestFolder({});
    const refusal = expect.objectContaining({ name: "WorkspaceError", code: "path", message });
    expect(() => meantPath(named, { root: folder.root, home: HOME })).toThrow(refusal);
  },
);

test("S35: every tool of the workspace takes a path by what it means, and what is checked holds that path", async () => {
  using folder = new TestFolder({ "src/a.ts": "alpha\n", "kept\\a.ts": "literal\n" });
  const home = folder.path("..");
  const workspace = openWorkspace(folder.root, [], undefined, home);
  const at = `~/${basename(folder.root)}`;
  expect(await call(readTool(workspace), { path: "src\\a.ts" })).toBe("1\talpha\n");
  expect(await call(readTool(workspace), { path: "kept\\a.ts" })).toBe("1\tliteral\n");
  expect(await call(readTool(workspace), { path: `${at}/src/a.ts` })).toBe("1\talpha\n");
  expect(await call(listTool(workspace), { path: `$HOME/${basename(folder.root)}/src` })).toContain("src/a.ts");
  expect(await call(searchTool(workspace), { pattern: "alp", path: `file://${folder.root}/src` })).toContain(
    "src/a.ts:1:",
  );
  await call(writeTool(workspace), { path: `${at}/src\\new.ts`, content: "new\n" });
  await call(editTool(workspace), { path: ".\\src\\new.ts", old_text: "new", new_text: "newer" });
  expect(folder.read("src/new.ts")).toBe("newer\n");
  await expect(call(writeTool(workspace), { path: "~/notes.md", content: "x\n" })).rejects.toThrow(
    /notes\.md is outside the workspace/,
  );
  await expect(call(writeTool(workspace), { path: "C:\\a.ts", content: "" })).rejects.toThrow(/drive or a share/);
  expect(folder.names()).toEqual(["kept\\a.ts", "src"]);
});

test("S35: a path that leaves the workspace and leads back is inside, and one that ends outside is not", async () => {
  using folder = new TestFolder({ "src/a.ts": "alpha\n" });
  symlinkSync(folder.outside, folder.path("out"));
  const workspace = openWorkspace(folder.root);
  const name = basename(folder.root);
  for (const path of [`../${name}/src/a.ts`, `${folder.outside}/../${name}/src/a.ts`, `src/../../${name}/src/a.ts`])
    expect(await locate(workspace, path)).toMatchObject({ path: "src/a.ts", kind: "file" });
  expect(await locate(workspace, `../${name}/src/new.ts`)).toMatchObject({ path: "src/new.ts", kind: "missing" });
  await expect(locate(workspace, `../${name}/out/secret.txt`)).rejects.toThrow(/leads out of the workspace/);
  await expect(locate(workspace, `../${name}-other/a.ts`)).rejects.toThrow(/leads out of the workspace/);
});
