// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are paths as users write them
import { symlinkSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, test } from "vitest";
import { editTool } from "../changes/edit.ts";
import { writeTool } from "../changes/write.ts";
import { searchTool } from "../search/search.ts";
import { call, TestFolder } from "../test-folder.fixture.ts";
import { listTool } from "./list.ts";
import { meantPath } from "./named-path.ts";
import { locate, openWorkspace } from "./paths.ts";
import { readTool } from "./read.ts";

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
])("S35, K27: %s means %s, and the meaning means itself", (named, meant) => {
  using folder = new TestFolder({ "kept\\a.ts": "", "lib/kept\\b/a.ts": "", "~kept/a.ts": "" });
  const base = { root: folder.root, home: HOME };
  expect(meantPath(named, base)).toBe(meant);
  expect(meantPath(meant, base)).toBe(meant);
});

test.each([
  [
    "~root/.profile",
    "~root/.profile is the home folder of another user, but only your own, ~, is known here. Write the whole path, or ./~root/.profile for a file of that name.",
  ],
  [
    "C:\\src\\a.ts",
    "C:\\src\\a.ts is on a Windows drive or share, which this system lacks. Use a path of the workspace, such as src/a.ts.",
  ],
  [
    "c:/src/a.ts",
    "c:/src/a.ts is on a Windows drive or share, which this system lacks. Use a path of the workspace, such as src/a.ts.",
  ],
  [
    "file:///C:/src/a.ts",
    "file:///C:/src/a.ts is on a Windows drive or share, which this system lacks. Use a path of the workspace, such as src/a.ts.",
  ],
  [
    "\\\\box\\share",
    "\\\\box\\share is on a Windows drive or share, which this system lacks. Use a path of the workspace, such as box/share.",
  ],
  [
    "file://box/src/a.ts",
    "file://box/src/a.ts names a file on the machine box. Write the path alone: box/src/a.ts, or file:///src/a.ts for a path that starts at the root.",
  ],
  ...["file:///a%2Fb", "file:///a%5cb", "file:///a%00", "file:///a%zz", "file:///a?b", "file:///a#b"].map((named) => [
    named,
    `${named} is not a valid file URL: it contains ?, #, an invalid % escape, or an escaped slash or NUL. Write only the path.`,
  ]),
] as [string, string][])(
  "S35: %s names no place of this machine, and the refusal names the right form",
  (named, message) => {
    using folder = new TestFolder({});
    const refusal = expect.objectContaining({ name: "WorkspaceError", code: "path", message });
    expect(() => meantPath(named, { root: folder.root, home: HOME })).toThrow(refusal);
  },
);

test("S35, K3: each tool of the workspace reads a path by its meaning, and the check uses the same path", async () => {
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
  await expect(call(writeTool(workspace), { path: "C:\\a.ts", content: "" })).rejects.toThrow(/drive or share/);
  expect(folder.names()).toEqual(["kept\\a.ts", "src"]);
});

test("S35: a path that leaves the workspace and returns is inside; a path that ends outside is outside", async () => {
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

describe("F81, K14: a name that resembles a file's name", () => {
  const files = {
    "v\u00a013.05.txt": "blank\n",
    "it\u2019s \u201cdone\u201d.md": "quotes\n",
    "2024\u20132025/re\u0301sume\u0301.txt": "dash\n",
    "two a.txt": "",
    "two\u00a0b.txt": "",
    "two\u202fb.txt": "",
    "shot 9.00\u202fAM.txt": "exact\n",
    "shot 9.00 AM.txt": "other\n",
  };

  test.each([
    ["v 13.05.txt", "v\u00a013.05.txt"],
    ["./v 13.05.txt", "./v\u00a013.05.txt"],
    ['it\'s "done".md', "it\u2019s \u201cdone\u201d.md"],
    ["2024-2025/r\u00e9sum\u00e9.txt", "2024\u20132025/re\u0301sume\u0301.txt"],
    ["2024-2025/new.txt", "2024\u20132025/new.txt"],
    ["2024-2025", "2024\u20132025"],
    ["2024-2025\\r\u00e9sum\u00e9.txt", "2024\u20132025/re\u0301sume\u0301.txt"],
    ["shot 9.00 AM.txt", "shot 9.00 AM.txt"],
    ["shot 9.00\u202fAM.txt", "shot 9.00\u202fAM.txt"],
    ["shot\u00a09.00\u00a0AM.txt", "shot\u00a09.00\u00a0AM.txt"],
    ["two b.txt", "two b.txt"],
    ["v\t13.05.txt", "v\t13.05.txt"],
    ["new name.txt", "new name.txt"],
  ])("%j means %j: the exact name first, then the only one like it", (named, meant) => {
    using folder = new TestFolder(files);
    const base = { root: folder.root, home: HOME };
    expect(meantPath(named, base)).toBe(meant);
    expect(meantPath(meant, base)).toBe(meant);
    expect(meantPath(`${folder.root}/${named}`, base)).toBe(`${folder.root}/${meant}`);
  });

  test("each tool takes it, and writes into the file that there is", async () => {
    using folder = new TestFolder(files);
    const workspace = openWorkspace(folder.root);
    expect(await call(readTool(workspace), { path: "v 13.05.txt" })).toBe("1\tblank\n");
    expect(await call(listTool(workspace), { path: "2024-2025" })).toContain("2024\u20132025/re\u0301sume\u0301.txt");
    expect(await call(searchTool(workspace), { pattern: "das", path: "2024-2025" })).toContain(":1:dash");
    await call(editTool(workspace), { path: 'it\'s "done".md', old_text: "quotes", new_text: "edited" });
    expect(folder.read("it\u2019s \u201cdone\u201d.md")).toBe("edited\n");
    expect(await call(writeTool(workspace), { path: "v 13.05.txt", content: "new\n" })).toContain(
      "Overwrote v\u00a013.05.txt",
    );
    expect(folder.names()).toHaveLength(Object.keys(files).length);
  });
});

test("F81: the error for a missing file names the most similar file", async () => {
  using folder = new TestFolder({ "src/server/index.ts": "", "src/server/routes.ts": "", "README.md": "" });
  const workspace = openWorkspace(folder.root);
  await expect(call(readTool(workspace), { path: "src/server/indx.ts" })).rejects.toThrow(
    "There is no file src/server/indx.ts. Did you mean src/server/index.ts?",
  );
  await expect(call(readTool(workspace), { path: "src/sever/index.ts" })).rejects.toThrow(
    "There is no file src/sever/index.ts. Did you mean src/server/index.ts?",
  );
  await expect(call(editTool(workspace), { path: "Readme.MD", old_text: "a", new_text: "b" })).rejects.toThrow(
    "There is no file Readme.MD. Did you mean README.md?",
  );
  await expect(call(listTool(workspace), { path: "src/servers" })).rejects.toThrow(
    "There is no folder src/servers. Did you mean src/server?",
  );
  await expect(call(readTool(workspace), { path: "entirely/else.ts" })).rejects.toThrow(
    "There is no file entirely/else.ts. Use list or search to find it.",
  );
});

test("F82, K28: list and search write odd names so that every tool takes them back", async () => {
  const names = [
    "line\nend.txt",
    'quo"te.txt',
    '"quoted".txt',
    '"whole"',
    " blank.txt",
    "tab\t.txt",
    "esc\x1b[2J.txt",
    "c1\x9b.txt",
    "ls\u2028.txt",
    "back\\slash.txt",
    'all\n"\\\t.txt',
    "turned\u202etxt.exe",
    "~",
    "$HOME",
    "~tilde.txt",
    "#5",
    "-dash.txt",
    "*.txt",
    "cafe\u0301.txt",
    "no\u00a0break",
    "plain.txt",
  ];
  using folder = new TestFolder(Object.fromEntries(names.map((name, index) => [name, `text ${index}\n`])));
  const workspace = openWorkspace(folder.root);
  const listed = (await call(listTool(workspace), { path: "." }))
    .trimEnd()
    .split("\n")
    .map((line) => line.replace(/ \(\d+ bytes\)$/, ""));
  expect(listed).toHaveLength(names.length);
  for (const [index, name] of listed.entries()) {
    const text = /^1\t(text \d+)\n$/.exec(await call(readTool(workspace), { path: name }))?.[1];
    expect(text, name).toBeDefined();
    const found = await call(searchTool(workspace), { pattern: `^${text}$`, path: name });
    expect(found).toBe(`${name}:1:${text}\n`);
    const edited = await call(editTool(workspace), { path: name, old_text: text, new_text: `new ${index}` });
    expect(edited.split("\n", 2)).toEqual([`--- ${name}`, `+++ ${name}`]);
    await call(writeTool(workspace), { path: name, content: `written ${index}\n` });
    expect(await call(readTool(workspace), { path: name })).toBe(`1\twritten ${index}\n`);
  }
  expect(folder.names()).toEqual([...names].sort());
  expect(listed).toContain("./~");
  // Folders with the names of drives, addresses and the home folder.
  for (const path of ["C:/a.txt", "file:/a.txt", "${HOME}/a.txt"]) {
    folder.add(path, "text\n");
    const [name] = (await call(listTool(workspace), { path: `./${path.split("/")[0]}` })).split(" (");
    expect(await call(readTool(workspace), { path: name })).toBe("1\ttext\n");
  }
});
