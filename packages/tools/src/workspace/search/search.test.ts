import { execFileSync } from "node:child_process";
import { chmodSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openWorkspace } from "../files/paths.ts";
import { swapping } from "../files/swapping.fixture.ts";
import { call, canBeOrdinaryUser, TestFolder } from "../test-folder.fixture.ts";
import { searchTool } from "./search.ts";
import { translate } from "./search-pattern.ts";
import { filesThatMayMatch, findRipgrep } from "./search-ripgrep.ts";

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
    expect(await search(folder, { pattern: "nothing", path: "src/a", glob: "*.ts" })).toBe("[no matches]\n");
  });

  when(
    "a pattern that begins with a dash, and folders whose names are patterns elsewhere, are taken as they stand",
    async () => {
      using folder = new TestFolder({
        "app/[id]/page.tsx": "needle --flag\n",
        "app/i/page.tsx": "needle\n",
        "app/(group)/a.tsx": "needle\n",
        "app/{a,b}/*.tsx": "needle\n",
      });
      expect(await search(folder, { pattern: "--flag" })).toBe("app/[id]/page.tsx:1:needle --flag\n");
      expect(await search(folder, { pattern: "-", path: "app" })).toBe("app/[id]/page.tsx:1:needle --flag\n");
      expect(await search(folder, { pattern: "needle", glob: "app/[id]/*.tsx" })).toContain("app/[id]/page.tsx:1:");
      expect(await search(folder, { pattern: "needle", path: "app/[id]" })).toBe("app/[id]/page.tsx:1:needle --flag\n");
      expect(await search(folder, { pattern: "needle", path: "app/(group)" })).toBe("app/(group)/a.tsx:1:needle\n");
      expect(await search(folder, { pattern: "needle", path: "app/{a,b}/*.tsx" })).toBe("app/{a,b}/*.tsx:1:needle\n");
    },
  );

  when("hidden folders, repositories inside of the repository, and names that are not ASCII are searched", async () => {
    using folder = new TestFolder({
      ".gitignore": "ä/\n*.größe\n",
      ".github/workflows/ci.yml": "needle\n",
      "inner/src/a.ts": "needle\n",
      "ä/hidden.txt": "needle\n",
      "ö/seen.txt": "needle\n",
      "b.größe": "needle\n",
    });
    execFileSync("git", ["init", "-q"], { cwd: folder.root });
    execFileSync("git", ["init", "-q"], { cwd: folder.path("inner") });
    expect(await search(folder, { pattern: "needle" })).toBe(
      ".github/workflows/ci.yml:1:needle\ninner/src/a.ts:1:needle\nö/seen.txt:1:needle\n",
    );
    expect(await search(folder, { pattern: "needle", path: "ä" })).toBe("ä/hidden.txt:1:needle\n");
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
    expect(await search(folder, { pattern: "--help", path: "b.md" })).toBe("[no matches]\n");
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

describe.each([{ ripgrep: false }, { ripgrep: true }])("F79, with $ripgrep for ripgrep", ({ ripgrep }) => {
  const when = test.skipIf(ripgrep && !hasRipgrep);
  const search = (folder: TestFolder, input: Record<string, unknown>) =>
    call(searchTool(openWorkspace(folder.root), { ripgrep }), input);

  when("F79: lines are found whatever ends them, and whatever begins or encodes the file", async () => {
    using folder = new TestFolder({
      "a.txt": "foo\r\nbar\r\n",
      "b.txt": "\ufefffoo\nbar",
      "c.txt": Buffer.from("\ufefffoo\r\nGröße\r\n", "utf16le"),
      "d.txt": Buffer.from("Größe\n", "latin1"),
    });
    expect(await search(folder, { pattern: "^foo$" })).toBe("a.txt:1:foo\nb.txt:1:foo\nc.txt:1:foo\n");
    expect(await search(folder, { pattern: "foo\\nbar" })).toBe("a.txt:1:foo\na.txt:2:bar\nb.txt:1:foo\nb.txt:2:bar\n");
    expect(await search(folder, { pattern: "\\bGröße$" })).toBe("c.txt:2:Größe\nd.txt:1:Größe\n");
    expect(await search(folder, { pattern: "[a-z]\\r$", glob: "*.txt" })).toBe(
      "a.txt:1:foo\na.txt:2:bar\nc.txt:1:foo\nc.txt:2:Größe\n",
    );
  });

  when(
    "F79: an ignored folder is searched if path or glob names it, also where rules leave out all that is in it",
    async () => {
      using folder = new TestFolder({
        ".gitignore": "/build/\nlogs/*\n!logs/.keep\n*.tmp\n",
        "build/x.ts": "needle\n",
        "build/deep/y.ts": "needle\n",
        "logs/a.log": "needle\n",
        "logs/b.tmp": "needle\n",
        "src/c.tmp": "needle\n",
      });
      const built = "build/deep/y.ts:1:needle\nbuild/x.ts:1:needle\n";
      expect(await search(folder, { pattern: "needle", path: "build" })).toBe(built);
      expect(await search(folder, { pattern: "needle", path: "build/deep" })).toBe("build/deep/y.ts:1:needle\n");
      expect(await search(folder, { pattern: "needle", glob: "build/**" })).toBe(built);
      expect(await search(folder, { pattern: "needle", path: "logs" })).toMatch(/^logs\/a\.log:1:needle\n/);
      expect(await search(folder, { pattern: "needle", path: "src" })).toBe(
        "[no matches]\n[not searched: src/c.tmp (left out by .gitignore or another ignore file; name one as path to search it)]\n",
      );
    },
  );

  when("F79: where nothing is found, the answer names what was not searched", async () => {
    using folder = new TestFolder({ ".gitignore": "out/\n*.log\n", "a.bin": "needle\0", "b.txt": "one\ntwo\n" });
    for (let number = 1; number <= 12; number += 1) folder.add(`${number}.log`, "needle");
    folder.add("out/x", "needle");
    folder.add("out/z.bin", "needle\0");
    symlinkSync("out/x", folder.path("link"));
    expect(await search(folder, { pattern: "needle" })).toBe(
      "[no matches]\n" +
        "[not searched: out/, 1.log, 10.log, 11.log, 12.log and 8 more (left out by .gitignore or another ignore file; name one as path to search it)]\n" +
        "[not searched: a.bin (binary)]\n[not searched: link (a link)]\n",
    );
    expect(await search(folder, { pattern: "needle", path: "a.bin" })).toBe(
      "[no matches]\n[not searched: a.bin (binary)]\n",
    );
    expect(await search(folder, { pattern: "one\\s+two", path: "b.txt" })).toBe(
      "[no matches]\n[each line was searched alone; write \\n in the pattern where a line ends]\n",
    );
    expect(await search(folder, { pattern: "two", glob: "*.md" })).toBe(
      '[no matches]\n[no file in . fits the glob "*.md"]\n[not searched: out/ (left out by .gitignore or another ignore file; name one as path to search it)]\n',
    );
    expect(await search(folder, { pattern: "two", path: "out", glob: "b.txt/*" })).toBe(
      '[no matches]\n[no file in out fits the glob "b.txt/*"; a glob with / is a path from the workspace]\n',
    );
    folder.add("empty/out/x", "");
    expect(await search(folder, { pattern: "two", path: "empty" })).toBe(
      "[no matches]\n[there is no file to search in empty]\n" +
        "[not searched: empty/out/ (left out by .gitignore or another ignore file; name one as path to search it)]\n",
    );
    expect(await search(folder, { pattern: "one\\|two" })).toMatch(
      /^\[no matches\]\n\[\\\| was read as the character \|; write \| for one or the other\]\n/,
    );
  });

  test.skipIf((ripgrep && !hasRipgrep) || !canBeOrdinaryUser())(
    "F79: files and folders without the right to read are named",
    async () => {
      using folder = new TestFolder({ "a.txt": "one\n", "closed/x.txt": "needle\n", "shut.txt": "needle\n" });
      for (const path of ["closed", "shut.txt"]) chmodSync(folder.path(path), 0);
      const note = "[not searched: closed/, shut.txt (cannot be opened)]\n";
      await folder.asOrdinaryUser(async () => {
        expect(await search(folder, { pattern: "needle" })).toBe(`[no matches]\n${note}`);
        expect(await search(folder, { pattern: "one" })).toBe(`a.txt:1:one\n${note}`);
        await expect(search(folder, { pattern: "needle", path: "closed" })).rejects.toThrow(
          "The operating system denies access to closed.",
        );
      });
      chmodSync(folder.path("closed"), 0o700);
    },
  );

  when(
    "F79: a name that is not UTF-8, and a line or a file that is too long, are named whatever is found",
    async () => {
      using folder = new TestFolder({ "a.txt": "needle\n" });
      writeFileSync(Buffer.concat([Buffer.from(`${folder.root}/b`), Buffer.from([0xff])]), "needle\n");
      folder.add("long.txt", `${"x".repeat(17 * 1024 * 1024)}\nneedle\n`);
      expect(await search(folder, { pattern: "needle" })).toBe(
        "a.txt:1:needle\nlong.txt:2:needle\n" +
          "[not searched: b\ufffd (cannot be opened)]\n" +
          "[not searched: long.txt (beyond the first 16 MB of a line; use a command)]\n",
      );
      expect(await search(folder, { pattern: "needle\\n" })).toBe(
        "a.txt:1:needle\n[not searched: b\ufffd (cannot be opened)]\n" +
          "[not searched: long.txt (over 16 MB, too large for a pattern that spans lines; search by lines, or use a command)]\n",
      );
    },
  );

  when("F79: a file with a line that is too long for the pattern is named, and the others are searched", async () => {
    using folder = new TestFolder({ "b.txt": "ab c\n" });
    folder.add("a.txt", `${"ab".repeat(6 * 1024 * 1024)}\nc\n`);
    expect(await search(folder, { pattern: "(?:a|b)+ ?c" })).toBe(
      "b.txt:1:ab c\n" +
        "[not searched: a.txt (not to the end: a line is too long for this pattern; use a simpler pattern, or a command)]\n",
    );
  });

  when("F82, K16: a match far inside a long line is shown, and no word is cut", async () => {
    const words = "lorem ipsum dolor ".repeat(20_000);
    using folder = new TestFolder({ "a.txt": `${words}the needle, ${words}\n` });
    const answer = await search(folder, { pattern: "need" });
    expect(answer).toMatch(/^a\.txt:1:\[\.\.\.\] (?:\w+ )+the needle, (?:\w+ +)+\[\.\.\.\]\n$/);
    expect(answer.length).toBeLessThan(330);
  });
});

test.skipIf(!hasRipgrep)("F79: ripgrep leaves out the files in which nothing can match, and no other", async () => {
  using folder = new TestFolder({
    "a.txt": "a needle\n",
    "b.txt": "none\n",
    "NEEDLE.txt": "NEEDLE\n",
    "c.bin": "\0",
    "d.pdf": Buffer.from("%PDF-\xff", "latin1"),
    "utf16.txt": Buffer.from("\ufeffneedle\n", "utf16le"),
    "none16.txt": Buffer.from("\ufeffnone\n", "utf16le"),
  });
  const workspace = openWorkspace(folder.root);
  const files = folder.names();
  const left = (pattern: string) =>
    filesThatMayMatch(
      findRipgrep(workspace, process.env) ?? "",
      workspace,
      files,
      translate(pattern),
      {},
      new AbortController().signal,
    );
  expect(await left("needle")).toEqual(["a.txt", "c.bin", "d.pdf", "utf16.txt"]);
  expect(await left("(?i)needle")).toEqual(["NEEDLE.txt", "a.txt", "c.bin", "d.pdf", "utf16.txt"]);
  expect(await left("n[a-e]e.le$")).toEqual(["a.txt", "c.bin", "d.pdf", "utf16.txt"]);
  expect(await left("n[a-e]*|NEED")).toEqual([
    "NEEDLE.txt",
    "a.txt",
    "b.txt",
    "c.bin",
    "d.pdf",
    "none16.txt",
    "utf16.txt",
  ]);
  expect(await left("\\w")).toEqual(files);
});

test("S8: search leaves out files outside the workspace", async () => {
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
    const link = "[not searched: c.txt (a link)]\n";
    expect(await call(tool, { pattern: "needle" })).toBe(`a.txt:1:needle a\n${note}`);
    expect(await call(tool, { pattern: "needle b" })).toBe(`[no matches]\n${note}${link}`);
    expect(await call(tool, { pattern: "needle x" })).toBe(`[no matches]\n${note}${link}`);
    expect(await call(tool, { pattern: "needle", path: "secret/b.txt" })).toBe(`[no matches]\n${note}`);
  });
});

test("S5: search does not run an rg from the workspace", () => {
  using folder = new TestFolder({ "bin/rg": "#!/bin/sh\n" });
  execFileSync("chmod", ["+x", folder.path("bin/rg")]);
  const workspace = openWorkspace(folder.root);
  expect(findRipgrep(workspace, { PATH: `${folder.path("bin")}:.:bin:` })).toBeUndefined();
  expect(findRipgrep(openWorkspace(folder.outside), { PATH: folder.path("bin") })).toBe(folder.path("bin/rg"));
});

describe("a pattern that would match for ever", () => {
  const catastrophic = { pattern: "^(a+)+$", path: "." };
  const content = { "0.txt": "a\n", "1.txt": `${"a".repeat(60)}!\n` };

  test("stops at the deadline, and keeps the results", async () => {
    using folder = new TestFolder(content);
    let ticks = 0;
    const ticker = setInterval(() => {
      ticks += 1;
    }, 20);
    const tool = searchTool(openWorkspace(folder.root), { deadline: 1500, ripgrep: false });
    const text = await call(tool, catastrophic);
    clearInterval(ticker);
    expect(text).toContain("[stopped after 1500 ms");
    // The program was not blocked meanwhile.
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
