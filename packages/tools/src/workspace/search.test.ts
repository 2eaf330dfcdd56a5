import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openWorkspace } from "./paths.ts";
import { searchTool } from "./search.ts";
import { findRipgrep } from "./search-ripgrep.ts";
import { swapping } from "./swapping.fixture.ts";
import { call, TestFolder } from "./test-folder.fixture.ts";

const files = {
  ".git/config": "needle\n",
  ".gitignore": "*.log\n/build/\n",
  ".hidden/a.ts": "a needle\n",
  "a.log": "needle\n",
  "b.md": "Needle\nno\r\nneedle here\r\n",
  "build/x.ts": "needle\n",
  "data.bin": Buffer.from("needle\0needle"),
  "src/.gitignore": "generated\n!kept.log\n",
  "src/generated/x.ts": "needle\n",
  "src/kept.log": "needle\n",
  "src/a/other.log": "needle\n",
  "src/a-b.ts": "needle\n",
  "src/a/c.ts": "(needle)\n",
  "src/z.ts": "one\ntwo needle\n",
  "utf16.txt": Buffer.from("\ufeffone\nneedle €\n", "utf16le"),
  "colon:1:2.txt": "needle\n",
};

const hasRipgrep = findRipgrep(openWorkspace("."), process.env) !== undefined;

describe.each([
  { name: "the built-in search", ripgrep: false },
  { name: "ripgrep (skipped where no rg is on the path)", ripgrep: true },
])("$name", ({ ripgrep }) => {
  const when = ripgrep ? test.skipIf(!hasRipgrep) : test;
  const search = (folder: TestFolder, input: Record<string, unknown>) =>
    call(searchTool(openWorkspace(folder.root), { ripgrep }), input);

  when("B36: search answers path:line:text, in order of paths, without what git ignores", async () => {
    using folder = new TestFolder(files);
    symlinkSync(folder.outside, folder.path("out"));
    symlinkSync("b.md", folder.path("c.md"));
    execFileSync("mkfifo", [folder.path("pipe")]);
    expect(await search(folder, { pattern: "needle" })).toBe(
      [
        ".hidden/a.ts:1:a needle",
        "b.md:3:needle here",
        "colon:1:2.txt:1:needle",
        "src/a/c.ts:1:(needle)",
        "src/a-b.ts:1:needle",
        "src/kept.log:1:needle",
        "src/z.ts:2:two needle",
        "utf16.txt:2:needle €",
        "",
      ].join("\n"),
    );
  });

  when("search is limited by path and glob", async () => {
    using folder = new TestFolder(files);
    expect(await search(folder, { pattern: "needle", path: "src", glob: "*.ts" })).toBe(
      "src/a/c.ts:1:(needle)\nsrc/a-b.ts:1:needle\nsrc/z.ts:2:two needle\n",
    );
    expect(await search(folder, { pattern: "needle", glob: "src/*.{ts,log}" })).toBe(
      "src/a-b.ts:1:needle\nsrc/kept.log:1:needle\nsrc/z.ts:2:two needle\n",
    );
    expect(await search(folder, { pattern: "needle", path: "src/z.ts" })).toBe("src/z.ts:2:two needle\n");
    expect(await search(folder, { pattern: "needle", path: "src", glob: "*.log" })).toBe("src/kept.log:1:needle\n");
    expect(await search(folder, { pattern: "nothing" })).toBe("[no matches]\n");
  });

  when("who names an ignored file or folder searches it", async () => {
    using folder = new TestFolder(files);
    expect(await search(folder, { pattern: "needle", path: "build" })).toBe("build/x.ts:1:needle\n");
    expect(await search(folder, { pattern: "needle", path: "a.log" })).toBe("a.log:1:needle\n");
  });

  when("the pattern is a regular expression, with flags at its beginning", async () => {
    using folder = new TestFolder(files);
    expect(await search(folder, { pattern: "(?i)^needle$", glob: "*.md" })).toBe("b.md:1:Needle\n");
    expect(await search(folder, { pattern: "\\(n.{2,}e\\)" })).toBe("src/a/c.ts:1:(needle)\n");
    expect(await search(folder, { pattern: "needle(?= h)" })).toBe("b.md:3:needle here\n");
    expect(await search(folder, { pattern: "--help" })).toBe("[no matches]\n");
  });

  when("a pattern that is no regular expression is refused with the reason", async () => {
    using folder = new TestFolder();
    await expect(search(folder, { pattern: "(" })).rejects.toThrow(
      /not a valid regular expression.*Unterminated group/,
    );
    await expect(search(folder, { pattern: "a", glob: "*a*a*a*a*a" })).rejects.toThrow(/at most four stars/);
    await expect(search(folder, { pattern: "a", path: "none" })).rejects.toThrow("There is nothing at none to search.");
  });

  when("many matches are cut, with a count, and long lines too", async () => {
    using folder = new TestFolder({ "a.txt": `${"x".repeat(5000)}\n${"x\n".repeat(500)}` });
    const text = await search(folder, { pattern: "x", path: "." });
    expect(text.split("\n").length).toBe(202);
    expect(text).toMatch(/^a\.txt:1:x{300} \[\.\.\.\]\n/);
    expect(text).toMatch(/\[the first 200 of 501 matching lines; narrow the search/);
    folder.add("b.txt", "x\n".repeat(20_000));
    expect(await search(folder, { pattern: "x" })).toMatch(/the first 200 of more than 10000 matching lines/);
  });

  when("S12: found text cannot act on a terminal", async () => {
    using folder = new TestFolder({ "a.txt": "needle \x1b]0;x\x07\n" });
    expect(await search(folder, { pattern: "needle" })).toBe("a.txt:1:needle \u241b]0;x\u2407\n");
  });

  when("a search ends when the call is cancelled", async () => {
    using folder = new TestFolder({ "a.txt": `${"a".repeat(50)}\n` });
    const cancelled = AbortSignal.abort(new Error("cancelled"));
    const tool = searchTool(openWorkspace(folder.root), { ripgrep });
    await expect(call(tool, { pattern: "a" }, { signal: cancelled })).rejects.toThrow("cancelled");
  });
});

test("S8: what lies outside is not searched", async () => {
  using folder = new TestFolder();
  symlinkSync(folder.outside, folder.path("out"));
  const tool = searchTool(openWorkspace(folder.root));
  await expect(call(tool, { pattern: "secret", path: ".." })).rejects.toThrow(/leads out/);
  await expect(call(tool, { pattern: "secret", path: "out" })).rejects.toThrow(/leads out/);
});

describe.each([{ ripgrep: false }, { ripgrep: true }])("S21, with $ripgrep for ripgrep", ({ ripgrep }) => {
  const when = test.skipIf(ripgrep && !hasRipgrep);

  when("S21: a folder that is swapped for a link while it is searched tells nothing of what is outside", async () => {
    using folder = new TestFolder();
    for (let file = 0; file < 40; file += 1) folder.add(`d/secret${file}.txt`, "needle, of the workspace\n");
    for (let file = 0; file < 40; file += 1)
      writeFileSync(join(folder.outside, `secret${file}.txt`), "needle, of elsewhere\n");
    await using _ = await swapping(folder.path("d"), folder.outside);
    const tool = searchTool(openWorkspace(folder.root), { ripgrep });
    for (let time = 0; time < (process.env.BANYAN_LONG ? 200 : 12); time += 1)
      expect(await call(tool, { pattern: "needle" })).not.toContain("elsewhere");
  });

  when("S21: files that a rule closes are not searched, and it is not told whether they match", async () => {
    using folder = new TestFolder({ "a.txt": "needle a\n", "secret/b.txt": "needle b\n" });
    symlinkSync("secret/b.txt", folder.path("c.txt"));
    const whyNotRead = (path: string) => (path.startsWith("secret/") ? "it is secret." : undefined);
    const tool = searchTool(openWorkspace(folder.root, [], whyNotRead), { ripgrep });
    const note = "[not searched: files that rules on reading close]\n";
    expect(await call(tool, { pattern: "needle" })).toBe(`a.txt:1:needle a\n${note}`);
    expect(await call(tool, { pattern: "needle b" })).toBe(`[no matches]\n${note}`);
    expect(await call(tool, { pattern: "needle x" })).toBe(`[no matches]\n${note}`);
    expect(await call(tool, { pattern: "needle", path: "secret/b.txt" })).toBe(`[no matches]\n${note}`);
  });
});

test("S5: an rg that lies in the workspace is not run", () => {
  using folder = new TestFolder({ "bin/rg": "#!/bin/sh\n" });
  execFileSync("chmod", ["+x", folder.path("bin/rg")]);
  const workspace = openWorkspace(folder.root);
  expect(findRipgrep(workspace, { PATH: `${folder.path("bin")}:.:bin:` })).toBeUndefined();
  expect(findRipgrep(openWorkspace(folder.outside), { PATH: folder.path("bin") })).toBe(folder.path("bin/rg"));
});

describe("a pattern that takes for ever", () => {
  const catastrophic = { pattern: "^(a+)+$", path: "." };
  const content = { "0.txt": "a\n", "1.txt": `${"a".repeat(60)}!\n` };

  test("is stopped at the deadline, and what was found stays", async () => {
    using folder = new TestFolder(content);
    let ticks = 0;
    const ticker = setInterval(() => {
      ticks += 1;
    }, 20);
    const tool = searchTool(openWorkspace(folder.root), { deadline: 1500, ripgrep: false });
    const text = await call(tool, catastrophic);
    clearInterval(ticker);
    expect(text).toContain("[stopped after 1500 ms");
    // The program went on meanwhile.
    expect(ticks).toBeGreaterThan(5);
  });

  test("is stopped when the call is cancelled", async () => {
    using folder = new TestFolder(content);
    const cancel = new AbortController();
    const tool = searchTool(openWorkspace(folder.root), { ripgrep: false });
    setTimeout(() => cancel.abort(new Error("cancelled")), 300);
    await expect(call(tool, catastrophic, { signal: cancel.signal })).rejects.toThrow("cancelled");
  });
});
