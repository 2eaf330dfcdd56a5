import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, watch } from "node:fs";
import { emptyConversation } from "@banyan/core";
import { expect, test } from "vitest";
import { editModeTool } from "../edit-mode/edit-mode.ts";
import { openWorkspace } from "../files/paths.ts";
import { call, TestFolder } from "../test-folder.fixture.ts";
import { editTool } from "./edit.ts";
import { writeTool } from "./write.ts";

test("B36: write makes a file and the folders around it", async () => {
  using folder = new TestFolder();
  const answer = await call(writeTool(openWorkspace(folder.root)), { path: "a/b/c.txt", content: "one\ntwo\n" });
  expect(answer).toBe("Created a/b/c.txt (2 lines, 8 bytes).");
  expect(folder.read("a/b/c.txt")).toBe("one\ntwo\n");
  expect(folder.names("a/b")).toEqual(["c.txt"]);
  expect(statSync(folder.path("a/b/c.txt")).mode & 0o777).toBe(0o666 & ~process.umask());
});

test("B36: write reports its change as a unified diff", async () => {
  using folder = new TestFolder({ "a.txt": "one\ntwo\nthree\n" });
  const answer = await call(writeTool(openWorkspace(folder.root)), { path: "a.txt", content: "one\n2\nthree\n" });
  expect(answer).toBe(
    [
      "Overwrote a.txt (3 lines, 12 bytes).",
      "--- a.txt",
      "+++ a.txt",
      "@@ -1,3 +1,3 @@",
      " one",
      "-two",
      "+2",
      " three",
    ].join("\n"),
  );
});

test("writing the same twice is as good as once", async () => {
  using folder = new TestFolder();
  const tool = writeTool(openWorkspace(folder.root));
  expect(tool.effects).toBe("idempotent");
  await call(tool, { path: "a.txt", content: "\ufeffone\r\n" });
  expect(await call(tool, { path: "a.txt", content: "\ufeffone\r\n" })).toBe(
    "Overwrote a.txt (1 line, 8 bytes). The content is the same as before.",
  );
  expect(folder.read("a.txt")).toBe(Buffer.from("\ufeffone\r\n").toString("latin1"));
});

test("the mode of a file is kept", async () => {
  using folder = new TestFolder({ "run.sh": "#!/bin/sh\n" });
  chmodSync(folder.path("run.sh"), 0o750);
  await call(writeTool(openWorkspace(folder.root)), { path: "run.sh", content: "#!/bin/bash\n" });
  expect(statSync(folder.path("run.sh")).mode & 0o777).toBe(0o750);
});

test("write reports a change of line ends", async () => {
  using folder = new TestFolder({ "a.txt": "one\r\ntwo\r\n" });
  const answer = await call(writeTool(openWorkspace(folder.root)), { path: "a.txt", content: "one\ntwo\n" });
  expect(answer).toContain("[line ends were CRLF and are LF now]");
});

test("a large difference is cut, and a binary file is replaced without one", async () => {
  using folder = new TestFolder({ "a.txt": "a\n".repeat(400), "b.bin": Buffer.from([0, 1, 2]) });
  const tool = writeTool(openWorkspace(folder.root));
  const answer = await call(tool, { path: "a.txt", content: "b\n".repeat(400) });
  expect(answer).toMatch(/\[\.\.\. \d+ more lines of the diff\]$/);
  expect(answer.split("\n").length).toBeLessThan(310);
  expect(await call(tool, { path: "a.txt", content: "c\n".repeat(4000) })).toContain("[no diff: more than 1000 lines");
  expect(await call(tool, { path: "b.bin", content: "text" })).toBe(
    "Overwrote b.bin (1 line, 4 bytes).\n[no diff: b.bin is binary data, 3 bytes; only text can be changed.]",
  );
});

test("S13: the new file is written next to the old file, readable by the owner alone, and never half visible", async () => {
  using folder = new TestFolder({ "a.txt": "old" });
  chmodSync(folder.path("a.txt"), 0o600);
  const seen = new Set<string>();
  const modes = new Set<number>();
  const watcher = watch(folder.root, () => {
    for (const name of readdirSync(folder.root)) {
      seen.add(name === "a.txt" ? name : "temporary");
      try {
        modes.add(statSync(folder.path(name)).mode & 0o777);
      } catch {
        // The temporary file was renamed meanwhile.
      }
    }
    const length = folder.read("a.txt").length;
    expect([3, 5_000_000]).toContain(length);
  });
  try {
    await call(writeTool(openWorkspace(folder.root)), { path: "a.txt", content: "x".repeat(5_000_000) });
  } finally {
    watcher.close();
  }
  expect([...modes].filter((mode) => mode !== 0o600)).toEqual([]);
  expect(folder.names()).toEqual(["a.txt"]);
});

test("a failed write leaves no file behind", async () => {
  using folder = new TestFolder({ "a.txt": "old" });
  const tool = writeTool(openWorkspace(folder.root));
  await expect(call(tool, { path: "a.txt/b", content: "x" })).rejects.toThrow("a.txt is not a folder");
  mkdirSync(folder.path("sub"));
  await expect(call(tool, { path: "sub", content: "x" })).rejects.toThrow("sub is a folder. Name a file.");
  await expect(call(tool, { path: "a.txt", content: "half \ud800" })).rejects.toThrow("lone surrogate");
  const cancelled = AbortSignal.abort(new Error("cancelled"));
  await expect(call(tool, { path: "a.txt", content: "x" }, { signal: cancelled })).rejects.toThrow("cancelled");
  expect(folder.read("a.txt")).toBe("old");
  expect(folder.names()).toEqual(["a.txt", "sub"]);
});

const signal = new AbortController().signal;

test("S21: write does not follow a link that changed its target after the approval", async () => {
  using folder = new TestFolder({ "seen.txt": "a\n", "other.txt": "a\n" });
  const workspace = openWorkspace(folder.root);
  const calls = [
    { tool: writeTool(workspace), input: { path: "link", content: "b\n" } },
    { tool: editTool(workspace), input: { path: "link", old_text: "a", new_text: "b" } },
  ];
  for (const { tool, input } of calls) {
    symlinkSync("seen.txt", folder.path("link"));
    const agreed = await tool.preview?.(input, {
      context: undefined,
      conversation: emptyConversation(),
      path: [],
      signal,
    });
    rmSync(folder.path("link"));
    symlinkSync("other.txt", folder.path("link"));
    await expect(call(tool, input, agreed && { agreed })).rejects.toThrow(
      "link leads to other.txt now, but did not when the user allowed the call.",
    );
    rmSync(folder.path("link"));
  }
  expect([folder.read("seen.txt"), folder.read("other.txt")]).toEqual(["a\n", "a\n"]);
});

test("S21: rules judge the target of a link at the time of writing, and an allowed link is followed", async () => {
  using folder = new TestFolder({ "free.txt": "a\n", "asked.txt": "a\n" });
  symlinkSync("asked.txt", folder.path("link"));
  const workspace = openWorkspace(folder.root);
  // When the call was approved, the link led to `free.txt`, which the rules allow. The rules did not judge the new target.
  const permit = async (input: unknown) => ({
    decision: JSON.stringify(input).includes("asked.txt") ? ("ask" as const) : ("allow" as const),
  });
  const calls = [
    { tool: writeTool(workspace), input: { path: "./link", content: "b\n" } },
    { tool: editTool(workspace), input: { path: folder.path("link"), old_text: "a", new_text: "b" } },
    { tool: editModeTool(workspace), input: { file_path: "link" } },
  ];
  for (const { tool, input } of calls)
    await expect(call(tool, input, { permit })).rejects.toThrow("leads through a link to asked.txt");
  expect(folder.read("asked.txt")).toBe("a\n");
  expect(await call(writeTool(workspace), { path: "asked.txt", content: "b\n" }, { permit })).toMatch(/^Overwrote/);
  rmSync(folder.path("link"));
  symlinkSync("free.txt", folder.path("link"));
  expect(await call(writeTool(workspace), { path: "link", content: "b\n" }, { permit })).toMatch(/^Overwrote free.txt/);
});
