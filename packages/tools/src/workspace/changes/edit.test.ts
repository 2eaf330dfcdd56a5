import { chmodSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { openWorkspace } from "../files/paths.ts";
import { call, TestFolder } from "../test-folder.fixture.ts";
import { editTool } from "./edit.ts";
import { writeTool } from "./write.ts";

async function edited(before: string, old_text: string, new_text: string): Promise<string> {
  using folder = new TestFolder({ "a.txt": Buffer.from(before, "utf8") });
  await call(editTool(openWorkspace(folder.root)), { path: "a.txt", old_text, new_text });
  return Buffer.from(folder.read("a.txt"), "latin1").toString("utf8");
}

async function problem(before: string | Uint8Array, old_text: string, new_text: string): Promise<string> {
  using folder = new TestFolder({ "a.txt": before });
  const tool = editTool(openWorkspace(folder.root));
  const message: string = await call(tool, { path: "a.txt", old_text, new_text }).then(
    (answer) => `no problem: ${answer}`,
    (error) => error.message,
  );
  expect(folder.read("a.txt")).toBe(Buffer.from(before).toString("latin1"));
  return message;
}

test("B36: edit replaces the one place and answers a unified diff", async () => {
  using folder = new TestFolder({ "src/a.ts": "const a = 1;\nconst b = 2;\n" });
  const tool = editTool(openWorkspace(folder.root));
  expect(await call(tool, { path: "src/a.ts", old_text: "b = 2", new_text: "b = 3" })).toBe(
    "--- src/a.ts\n+++ src/a.ts\n@@ -1,2 +1,2 @@\n const a = 1;\n-const b = 2;\n+const b = 3;",
  );
  expect(folder.read("src/a.ts")).toBe("const a = 1;\nconst b = 3;\n");
});

test("B36: edit refuses text that does not occur, and shows the nearest line", async () => {
  expect(await problem("one\nconst total = price * count;\n", "const total = prices * counts;", "x")).toBe(
    "old_text does not occur in a.txt. The most similar line is line 2: const total = price * count; Read the lines around it and copy the text exactly.",
  );
  expect(await problem("a\n\tif (x) {\n\t\ty();\n", "    if (x) {\n        y();", "z")).toMatch(
    /Line 2 has a tab where you wrote 4 spaces, and 1 more such place\. Copy the text exactly\./,
  );
  expect(await problem("one\n", "entirely different", "x")).toMatch(/Read the file and copy/);
});

test("B36: edit refuses text that occurs more than once, with the count and the lines", async () => {
  expect(await problem("a\nb\na\n", "a", "x")).toMatch(
    /^old_text occurs 2 times in a\.txt, at lines 1, 3\. Include more/,
  );
  expect(await problem("aaa", "aa", "x")).toMatch(/occurs 2 times/);
  expect(await problem("a\n".repeat(2000), "a", "x")).toMatch(/more than 1000 times .*lines 1, 2, .*10, \.\.\./);
});

test("edit refuses a change without effect", async () => {
  expect(await problem("a\n", "a", "a")).toMatch(/are the same/);
});

test("B31: edit keeps CRLF for texts with LF", async () => {
  expect(await edited("one\r\ntwo\r\nthree\r\n", "one\ntwo", "1\n2\n3")).toBe("1\r\n2\r\n3\r\nthree\r\n");
  expect(await edited("one\r\ntwo\r\n", "one\r\ntwo", "1\r\n2")).toBe("1\r\n2\r\n");
  expect(await edited("one\r\ntwo\r\n", "two", "2\nand more")).toBe("one\r\n2\r\nand more\r\n");
});

test("B31: texts must match exactly in a file with mixed line ends", async () => {
  expect(await edited("one\r\ntwo\nthree\r\n", "two\nthree", "2\n3")).toBe("one\r\n2\n3\r\n");
  expect(await problem("one\r\ntwo\nthree\r\n", "one\ntwo", "x")).toMatch(/line ends are mixed/);
});

test("B31: byte-order mark, missing final newline and odd characters are kept byte for byte", async () => {
  expect(await edited("\ufeffone\ntwo", "one", "1")).toBe("\ufeff1\ntwo");
  expect(await edited("one\r\ntwo", "two", "2")).toBe("one\r\n2");
  expect(await edited("a\u2028b\0c\ufeffd\r e\u200d\n".replace("\0", ""), "b", "x")).toBe(
    "a\u2028xc\ufeffd\r e\u200d\n",
  );
});

test("the new text is taken literally", async () => {
  expect(await edited("a b c", "b", "$& $1 $$ \\n")).toBe("a $& $1 $$ \\n c");
  expect(await edited("a b c", " b", "")).toBe("a c");
});

test.each([
  ["curly quotes of the new text, and those around it", "“it’s” here\n", "here", "“there”", "“it’s” “there”\n"],
  ["no-break spaces", "10 km\n", "10 km", "10\u00a0km at 9.00\u202fAM", "10\u00a0km at 9.00\u202fAM\n"],
  ["an accent that stands alone, and emoji", "name\n", "name", "cafe\u0301 👩‍👩‍👧", "cafe\u0301 👩‍👩‍👧\n"],
])("B31: %s are written as they are", async (_, before, old_text, new_text, after) => {
  expect(await edited(before, old_text, new_text)).toBe(after);
  using folder = new TestFolder();
  await call(writeTool(openWorkspace(folder.root)), { path: "new.txt", content: after });
  expect(Buffer.from(folder.read("new.txt"), "latin1").toString()).toBe(after);
});

test("B31: edit changes one line of a file of 10,000,000 bytes, and no other byte", async () => {
  const [before, behind] = ["a line of a log\n".repeat(400_000), "another line\n".repeat(277_000)];
  expect(await edited(`${before}the place\n${behind}`, "the place", "this place")).toBe(
    `${before}this place\n${behind}`,
  );
});

test("F81: blanks for the tab of a Makefile are refused, with the difference named", async () => {
  expect(await problem("all:\n\tcc a.c\n", "    cc a.c", "    cc b.c")).toMatch(
    /Line 2 has a tab where you wrote 4 spaces/,
  );
});

test("edit changes a notebook's cell beside a picture of 300 kB, and the notebook stays JSON", async () => {
  const picture = "iVBORw0KGgo".repeat(27_000);
  const cell = { cell_type: "code", source: ["plot(a)\n"], outputs: [{ data: { "image/png": picture } }] };
  const notebook = (source: string) => JSON.stringify({ cells: [{ ...cell, source: [source] }], nbformat: 4 }, null, 1);
  const after = await edited(notebook("plot(a)\n"), '"plot(a)\\n"', '"plot(b)\\n"');
  expect(JSON.parse(after)).toEqual(JSON.parse(notebook("plot(b)\n")));
});

test("B31: the mode is kept", async () => {
  using folder = new TestFolder({ "run.sh": "echo 1\n" });
  chmodSync(folder.path("run.sh"), 0o755);
  await call(editTool(openWorkspace(folder.root)), { path: "run.sh", old_text: "1", new_text: "2" });
  expect(statSync(folder.path("run.sh")).mode & 0o777).toBe(0o755);
});

test("edit refuses a file that is neither UTF-8 nor UTF-16, with the reason", async () => {
  expect(await problem(Buffer.from("gr\xfc\xdfe", "latin1"), "gr", "x")).toMatch(/a\.txt is not valid UTF-8/);
  expect(await problem(Buffer.from("\ufeffone\ud800", "utf16le"), "one", "x")).toMatch(/a\.txt is not valid UTF-16LE/);
  expect(await problem(Buffer.from("one\0"), "one", "x")).toMatch(/a\.txt is binary data, 4 bytes/);
  expect(await problem("one", "one", "half \ud800")).toMatch(/lone surrogate/);
});

test("a second run of an edit could apply it again, so it is external", async () => {
  using folder = new TestFolder({ "a.txt": "one\n" });
  const tool = editTool(openWorkspace(folder.root));
  expect(tool.effects).toBe("external");
  for (let run = 0; run < 2; run += 1) await call(tool, { path: "a.txt", old_text: "one\n", new_text: "one\ntwo\n" });
  expect(folder.read("a.txt")).toBe("one\ntwo\ntwo\n");
});

test("F82: a file in folders such as [id] and (group) is edited, and no other", async () => {
  using folder = new TestFolder({ "app/[id]/(g)/page.tsx": "one\n", "app/i/g/page.tsx": "one\n" });
  const tool = editTool(openWorkspace(folder.root));
  await call(tool, { path: "app/[id]/(g)/page.tsx", old_text: "one", new_text: "two" });
  expect([folder.read("app/[id]/(g)/page.tsx"), folder.read("app/i/g/page.tsx")]).toEqual(["two\n", "one\n"]);
});
