import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { editTool } from "../changes/edit.ts";
import { replaceWorkspaceFile } from "../changes/replace-file.ts";
import { writeTool } from "../changes/write.ts";
import { call, TestFolder } from "../test-folder.fixture.ts";
import { WorkspaceError } from "./error.ts";
import { openDirectory, openFile, openFileInside } from "./open-path.ts";
import { locate, openWorkspace } from "./paths.ts";
import { readTool } from "./read.ts";

const refusal = (code: string, message: RegExp) =>
  expect.objectContaining({ name: "WorkspaceError", code, message: expect.stringMatching(message) });

test("a workspace needs an existing folder", () => {
  using folder = new TestFolder({ "a.txt": "" });
  expect(() => openWorkspace(folder.path("nothing"))).toThrow(
    refusal("root", /nothing cannot be opened.*existing folder/),
  );
  expect(() => openWorkspace(folder.path("a.txt"))).toThrow(refusal("root", /is not a folder/));
});

test("S8: another folder in the place of the root is noticed", async () => {
  using folder = new TestFolder({ "a.txt": "mine" });
  const workspace = openWorkspace(folder.root);
  renameSync(folder.root, `${folder.root}-moved`);
  mkdirSync(folder.root);
  folder.add("a.txt", "theirs");
  await expect(locate(workspace, "a.txt")).rejects.toThrow(refusal("root", /moved or replaced/));
});

test("a path may be relative, absolute inside the root, or spelled through a link to the root", async () => {
  using folder = new TestFolder({ "src/a.ts": "a" });
  symlinkSync(folder.root, `${folder.outside}/link`);
  const workspace = openWorkspace(`${folder.outside}/link`);
  for (const path of [
    "src/a.ts",
    "./src//a.ts",
    "src/../src/a.ts",
    folder.path("src/a.ts"),
    `${folder.outside}/link/src/a.ts`,
  ]) {
    expect(await locate(workspace, path)).toMatchObject({
      path: "src/a.ts",
      real: folder.path("src/a.ts"),
      kind: "file",
    });
  }
  expect(await locate(workspace, "src/new/b.ts")).toMatchObject({ path: "src/new/b.ts", kind: "missing" });
  expect(await locate(workspace, "src/new/../a.ts")).toMatchObject({ path: "src/a.ts", kind: "file" });
  expect(await locate(workspace, ".")).toMatchObject({ path: ".", kind: "directory" });
});

test.each([
  ["../outside/secret.txt", "outside", /leads out of the workspace/],
  ["src/../../outside/secret.txt", "outside", /leads out of the workspace/],
  ["new/../../outside/secret.txt", "outside", /leads out of the workspace/],
  ["/etc/passwd", "outside", /\/etc\/passwd is outside/],
  ["/dev/zero", "outside", /\/dev\/zero is outside/],
  ["", "path", /empty/],
  ["a\0b", "path", /null byte/],
  ["src/a.ts/b", "kind", /src\/a\.ts is not a folder/],
])("S8: the path %j is refused", async (path, code, message) => {
  using folder = new TestFolder({ "src/a.ts": "a" });
  const workspace = openWorkspace(folder.root);
  await expect(call(readTool(workspace), { path })).rejects.toThrow(refusal(code, message));
  await expect(call(writeTool(workspace), { path, content: "x" })).rejects.toThrow(refusal(code, message));
});

test("S8: a neighbour whose name begins like the root's name is outside", async () => {
  using folder = new TestFolder();
  const workspace = openWorkspace(folder.root);
  mkdirSync(`${folder.root}-beside`);
  await expect(locate(workspace, `${folder.root}-beside/x`)).rejects.toThrow(refusal("outside", /outside/));
});

test("S8: links are followed inside the workspace and refused when they lead out", async () => {
  using folder = new TestFolder({ "src/a.ts": "inside\n" });
  const workspace = openWorkspace(folder.root);
  symlinkSync("src", folder.path("near"));
  symlinkSync(folder.path("src/a.ts"), folder.path("absolute"));
  symlinkSync("../outside", folder.path("far"));
  symlinkSync(`${folder.outside}/secret.txt`, folder.path("file"));
  symlinkSync("file", folder.path("chain"));
  symlinkSync("/dev/zero", folder.path("zero"));
  symlinkSync(`${folder.outside}/not-there`, folder.path("dangling"));

  expect(await call(readTool(workspace), { path: "near/a.ts" })).toBe("1\tinside\n");
  expect(await call(readTool(workspace), { path: "absolute" })).toBe("1\tinside\n");
  for (const path of ["far/secret.txt", "file", "chain", "zero", "dangling", "near/../far/secret.txt"]) {
    await expect(call(readTool(workspace), { path })).rejects.toThrow(refusal("outside", /link.*leads out/));
    await expect(call(writeTool(workspace), { path, content: "x" })).rejects.toThrow(refusal("outside", /leads out/));
  }
  expect(readFileSync(`${folder.outside}/secret.txt`, "utf8")).toBe("secret\n");
});

test("S8: links in a circle are refused", async () => {
  using folder = new TestFolder();
  symlinkSync("b", folder.path("a"));
  symlinkSync("a", folder.path("b"));
  await expect(locate(openWorkspace(folder.root), "a")).rejects.toThrow(refusal("path", /too many links/));
});

test("writing through a link inside the workspace keeps the link", async () => {
  using folder = new TestFolder({ "src/a.ts": "before" });
  symlinkSync("src/a.ts", folder.path("link"));
  await call(writeTool(openWorkspace(folder.root)), { path: "link", content: "after" });
  expect(folder.read("src/a.ts")).toBe("after");
  expect(readFileSync(folder.path("link"), "utf8")).toBe("after");
});

test("S8: a parent that becomes a link between check and writing is noticed", async () => {
  using folder = new TestFolder({ "src/deep/a.txt": "inside" });
  const workspace = openWorkspace(folder.root);
  const location = await locate(workspace, "src/deep/new.txt");
  renameSync(folder.path("src/deep"), folder.path("src/was-deep"));
  symlinkSync(folder.outside, folder.path("src/deep"));
  await expect(replaceWorkspaceFile(workspace, location, Buffer.from("broken in"))).rejects.toThrow(WorkspaceError);
  expect(readdirSync(folder.outside)).toEqual(["secret.txt"]);
});

test("S8: a link that replaces a checked folder or file is not opened", async () => {
  using folder = new TestFolder({ "src/a.txt": "" });
  const workspace = openWorkspace(folder.root);
  mkdirSync(`${folder.outside}/deep`);
  symlinkSync(folder.outside, folder.path("link"));
  symlinkSync(`${folder.outside}/secret.txt`, folder.path("src/link"));
  await expect(openDirectory(workspace, folder.path("link"))).rejects.toThrow(/ELOOP|ENOTDIR/);
  await expect(openDirectory(workspace, folder.path("link/deep"))).rejects.toThrow(refusal("changed", /was replaced/));
  await using directory = await openDirectory(workspace, folder.path("src"));
  await expect(openFileInside(workspace, directory, "link", "src/link")).rejects.toThrow(/ELOOP/);
});

test("S8: no file outside is read or written while a folder and a link are swapped", async () => {
  using folder = new TestFolder({ "src/secret.txt": "inside\n" });
  const workspace = openWorkspace(folder.root);
  symlinkSync(folder.outside, folder.path("bait"));
  const swaps = `
    const { existsSync, renameSync } = require("node:fs");
    const end = Date.now() + 1500;
    while (Date.now() < end || !existsSync("done")) {
      renameSync("src", "src-kept"); renameSync("bait", "src");
      renameSync("src", "bait"); renameSync("src-kept", "src");
    }`;
  const swapper = spawn(process.execPath, ["-e", swaps], { cwd: folder.root, stdio: "ignore" });
  onTestFinished(() => void swapper.kill("SIGKILL"));
  const ended = once(swapper, "exit");
  let done = 0;
  while (swapper.exitCode === null) {
    const [lower, upper] = done % 2 === 0 ? ["s", "S"] : ["S", "s"];
    const [read, edited] = await Promise.allSettled([
      call(readTool(workspace), { path: "src/secret.txt" }),
      call(editTool(workspace), { path: "src/secret.txt", old_text: lower, new_text: upper }),
    ]);
    if (read.status === "fulfilled") expect(read.value).toMatch(/^1\tin[sS]ide\n$/);
    if (edited.status === "rejected") continue;
    done += 1;
    folder.add("done", "");
  }
  expect(await ended).toEqual([0, null]);
  expect(readFileSync(`${folder.outside}/secret.txt`, "utf8")).toBe("secret\n");
  expect(done).toBeGreaterThan(0);
});

test("S8: named pipes, sockets and devices are neither read nor written, and never waited for", async () => {
  using folder = new TestFolder();
  const workspace = openWorkspace(folder.root);
  execFileSync("mkfifo", [folder.path("pipe")]);
  const server = createServer().listen(folder.path("socket"));
  await once(server, "listening");
  try {
    for (const [path, what] of [
      ["pipe", "a named pipe"],
      ["socket", "a socket"],
    ] as const) {
      await expect(call(readTool(workspace), { path })).rejects.toThrow(
        refusal("kind", new RegExp(`${path} is ${what}`)),
      );
      await expect(call(writeTool(workspace), { path, content: "x" })).rejects.toThrow(
        refusal("kind", new RegExp(what)),
      );
    }
  } finally {
    server.close();
  }
});

test("S8: a named pipe that replaces a file is refused at opening", async () => {
  using folder = new TestFolder();
  const workspace = openWorkspace(folder.root);
  execFileSync("mkfifo", [folder.path("pipe")]);
  await using directory = await openDirectory(workspace, folder.root);
  await expect(openFileInside(workspace, directory, "pipe", "pipe")).rejects.toThrow(refusal("kind", /a named pipe/));
});

test("S8: a device inside the workspace is refused", async (context) => {
  using folder = new TestFolder();
  try {
    execFileSync("mknod", [folder.path("zero"), "c", "1", "5"], { stdio: "ignore" });
  } catch {
    context.skip("only root may make devices");
  }
  await expect(openFile(openWorkspace(folder.root), "zero")).rejects.toThrow(refusal("kind", /a device/));
});

test("S8: a file with a second hard link is not written", async () => {
  using folder = new TestFolder();
  const workspace = openWorkspace(folder.root);
  linkSync(`${folder.outside}/secret.txt`, folder.path("mine.txt"));
  await expect(call(writeTool(workspace), { path: "mine.txt", content: "x" })).rejects.toThrow(
    refusal("protected", /mine\.txt has 2 hard links/),
  );
  await expect(call(editTool(workspace), { path: "mine.txt", old_text: "secret", new_text: "x" })).rejects.toThrow(
    refusal("protected", /hard links/),
  );
  expect(readFileSync(`${folder.outside}/secret.txt`, "utf8")).toBe("secret\n");
});

test.each([
  ".git/hooks/pre-commit",
  ".git/config",
  ".GIT/config",
  "sub/.git/hooks/pre-commit",
  ".git",
  ".banyan/settings.json",
  ".bashrc",
  "home/.zshenv",
  ".config/fish/config.fish",
  ".envrc",
  "locked/deep/a.txt",
  "one.txt",
])("S8: %s is never written", async (path) => {
  using folder = new TestFolder({ ".git/HEAD": "ref", "one.txt": "1" });
  const workspace = openWorkspace(folder.root, ["locked", folder.path("one.txt")]);
  await expect(call(writeTool(workspace), { path, content: "x" })).rejects.toThrow(
    refusal("protected", /must not be written/),
  );
  expect(folder.names()).toEqual([".git", "one.txt"]);
  expect(folder.names(".git")).toEqual(["HEAD"]);
});

test("S8: a protected place is not written through a link either", async () => {
  using folder = new TestFolder({ ".git/HEAD": "ref", "conf/a.json": "{}" });
  symlinkSync(".git", folder.path("innocent"));
  symlinkSync("conf", folder.path("settings"));
  const workspace = openWorkspace(folder.root, ["settings"]);
  for (const path of ["innocent/hooks/pre-commit", "settings/a.json", "conf/a.json"]) {
    await expect(call(writeTool(workspace), { path, content: "x" })).rejects.toThrow(
      refusal("protected", /must not be written/),
    );
  }
});

test("names that only resemble protected ones can be written", async () => {
  using folder = new TestFolder();
  const tool = writeTool(openWorkspace(folder.root, ["lock"]));
  for (const path of [".gitignore", ".github/ci.yml", "locked.txt", "bashrc"]) await call(tool, { path, content: "x" });
  expect(folder.names()).toEqual([".github", ".gitignore", "bashrc", "locked.txt"]);
});

test("no file is written if the root is in a protected folder", async () => {
  using folder = new TestFolder();
  const workspace = openWorkspace(folder.root, [folder.root.replace(/\/root$/, "")]);
  await expect(call(writeTool(workspace), { path: "a", content: "x" })).rejects.toThrow(
    refusal("protected", /protected/),
  );
});

test("edit does not overwrite a file that another process changes after the reading", async () => {
  using folder = new TestFolder({ "a.txt": "one\n" });
  const workspace = openWorkspace(folder.root);
  const location = await locate(workspace, "a.txt");
  const { stats } = await openFile(workspace, "a.txt").then(async (file) => {
    await file[Symbol.asyncDispose]();
    return file;
  });
  rmSync(folder.path("a.txt"));
  folder.add("a.txt", "two\n");
  await expect(replaceWorkspaceFile(workspace, location, Buffer.from("three"), stats)).rejects.toThrow(
    refusal("changed", /another program changed the file/),
  );
  expect(folder.read("a.txt")).toBe("two\n");
  expect(folder.names()).toEqual(["a.txt"]);
});
