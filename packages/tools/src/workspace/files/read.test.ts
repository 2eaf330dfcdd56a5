import { closeSync, ftruncateSync, openSync, symlinkSync, writeSync } from "node:fs";
import { expect, test } from "vitest";
import { call, TestFolder } from "../test-folder.fixture.ts";
import { openWorkspace } from "./paths.ts";
import { readTool } from "./read.ts";

function lines(from: number, to: number): string {
  let text = "";
  for (let number = from; number <= to; number += 1) text += `line ${number}\n`;
  return text;
}

test("B36: read numbers the lines", async () => {
  using folder = new TestFolder({ "a.txt": "one\n\ntwo" });
  expect(await call(readTool(openWorkspace(folder.root)), { path: "a.txt" })).toBe("1\tone\n2\t\n3\ttwo\n");
});

test("B36: read gives a range, both ends included", async () => {
  using folder = new TestFolder({ "a.txt": lines(1, 20) });
  const tool = readTool(openWorkspace(folder.root));
  expect(await call(tool, { path: "a.txt", start: 3, end: 4 })).toBe("3\tline 3\n4\tline 4\n");
  expect(await call(tool, { path: "a.txt", start: 19 })).toBe("19\tline 19\n20\tline 20\n");
  expect(await call(tool, { path: "a.txt", start: 20, end: 99 })).toBe("20\tline 20\n");
});

test("B36: read refuses a missing range with the reason", async () => {
  using folder = new TestFolder({ "a.txt": "one\n" });
  const tool = readTool(openWorkspace(folder.root));
  await expect(call(tool, { path: "a.txt", start: 2 })).rejects.toThrow("a.txt ends before line 2");
  await expect(call(tool, { path: "a.txt", start: 5, end: 4 })).rejects.toThrow("end (4) is before start (5)");
});

test("read returns a long file in parts, each with the next call", async () => {
  using folder = new TestFolder({ "a.txt": lines(1, 2500) });
  const tool = readTool(openWorkspace(folder.root));
  const first = await call(tool, { path: "a.txt" });
  expect(first).toMatch(/2000\tline 2000\n\[a\.txt goes on; read on with start=2001\]\n$/);
  expect(await call(tool, { path: "a.txt", start: 2001 })).toMatch(/^2001\tline 2001\n[^[]*2500\tline 2500\n$/);
});

test("a wide file is cut at a number of bytes, between lines", async () => {
  using folder = new TestFolder({ "a.txt": `${"x".repeat(1000)}\n`.repeat(100) });
  const text = await call(readTool(openWorkspace(folder.root)), { path: "a.txt" });
  expect(Buffer.byteLength(text)).toBeLessThan(61_000);
  expect(text).toMatch(/\[a\.txt goes on; read on with start=60\]\n$/);
});

test("a very long line is cut between characters, with a note", async () => {
  using folder = new TestFolder({ "a.txt": `a${"€".repeat(400_000)}\nnext\n` });
  const text = await call(readTool(openWorkspace(folder.root)), { path: "a.txt" });
  expect(text).toMatch(/^1\ta€{666} \[\.\.\. 1198002 more bytes in this line\]\n2\tnext\n$/);
});

test("read says that a file is empty", async () => {
  using folder = new TestFolder({ "a.txt": "" });
  expect(await call(readTool(openWorkspace(folder.root)), { path: "a.txt" })).toBe("[a.txt is empty]");
});

test("read refuses a folder and a missing file, with a remedy", async () => {
  using folder = new TestFolder({ "src/a.txt": "" });
  const tool = readTool(openWorkspace(folder.root));
  await expect(call(tool, { path: "src" })).rejects.toThrow("src is a folder. Use list");
  await expect(call(tool, { path: "b.txt" })).rejects.toThrow("There is no file b.txt. Use list or search");
});

test.each([
  ["image/png", "a PNG image", Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1")],
  ["application/pdf", "a PDF document", Buffer.from("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "latin1")],
])("C4: read shows the model %s", async (mediaType, what, bytes) => {
  using folder = new TestFolder({ "a/file": bytes });
  const brought: unknown[] = [];
  const attach = (file: unknown) => void brought.push(file);
  const text = await call(readTool(openWorkspace(folder.root)), { path: "a/file" }, { attach });
  expect(text).toBe(`a/file is ${what}, ${bytes.length} bytes.`);
  expect(brought).toEqual([{ mediaType, name: "a/file", data: bytes.toString("base64") }]);
});

test("C4: read refuses a picture that is too large, and reads a text document as text", async () => {
  using folder = new TestFolder({ "b.pdf": "%PDF- is how they begin.\n", "a.png": "\x89PNG\r\n\0" });
  const large = openSync(`${folder.root}/a.png`, "r+");
  writeSync(large, Buffer.from("\x89PNG\r\n\x1a\n\0", "latin1"), 0, 9, 0);
  ftruncateSync(large, 100 * 1024 * 1024);
  closeSync(large);
  const tool = readTool(openWorkspace(folder.root));
  await expect(call(tool, { path: "a.png" })).rejects.toThrow(
    "a.png is a PNG image, 104857600 bytes; files of more than 5242880 bytes cannot be shown.",
  );
  expect(await call(tool, { path: "b.pdf" })).toBe("1\t%PDF- is how they begin.\n");
});

test.each([
  ["an SQLite database", Buffer.from("SQLite format 3\0", "latin1")],
  ["binary data", Buffer.from("text, then\0not")],
])("a binary file is refused with its kind and size: %s", async (what, bytes) => {
  using folder = new TestFolder({ file: bytes });
  await expect(call(readTool(openWorkspace(folder.root)), { path: "file" })).rejects.toThrow(
    `file is ${what}, ${bytes.length} bytes; only text, pictures (PNG, JPEG, GIF, WebP) and PDF can be read.`,
  );
});

test("read treats text that begins like a binary format as text", async () => {
  using folder = new TestFolder({ "a.txt": "BZh is a signature\n" });
  expect(await call(readTool(openWorkspace(folder.root)), { path: "a.txt" })).toBe("1\tBZh is a signature\n");
});

test.each([
  ["UTF-16LE", Buffer.from("\ufeffgrüße\r\n€\r\n", "utf16le")],
  ["UTF-16BE", Buffer.from("\ufeffgrüße\r\n€\r\n", "utf16le").swap16()],
])("read shows %s as text, and says so", async (name, bytes) => {
  using folder = new TestFolder({ "a.txt": bytes });
  const text = await call(readTool(openWorkspace(folder.root)), { path: "a.txt" });
  expect(text).toBe(`1\tgrüße\n2\t€\n[a.txt is ${name}, shown as text; edit and write keep the encoding]\n`);
});

test("a byte-order mark and CRLF are not shown", async () => {
  using folder = new TestFolder({ "a.txt": "\ufeffone\r\ntwo\r\n" });
  expect(await call(readTool(openWorkspace(folder.root)), { path: "a.txt" })).toBe("1\tone\n2\ttwo\n");
});

test("read shows bytes that are not UTF-8, and says so", async () => {
  using folder = new TestFolder({ "a.txt": Buffer.from("gr\xfc\xdfe\n", "latin1") });
  expect(await call(readTool(openWorkspace(folder.root)), { path: "a.txt" })).toMatch(
    /^1\tgr\ufffd\ufffde\n\[some bytes are not UTF-8/,
  );
});

test("S12: escape sequences in a file cannot act on a terminal", async () => {
  using folder = new TestFolder({ "a.txt": "\x1b]52;c;eA==\x07\n" });
  const text = await call(readTool(openWorkspace(folder.root)), { path: "a.txt" });
  expect(text).toMatch(/^1\t\u241b\]52;c;eA==\u2407\n\[control characters are shown as pictures/);
});

test("read holds only the wanted lines of a file of 300 MB in memory", async () => {
  using folder = new TestFolder({ "huge.txt": lines(1, 3000) });
  const file = openSync(folder.path("huge.txt"), "r+");
  ftruncateSync(file, 300_000_000);
  writeSync(file, "\nlast\n", 299_999_994);
  closeSync(file);
  const tool = readTool(openWorkspace(folder.root));
  const before = process.memoryUsage().rss;
  expect(await call(tool, { path: "huge.txt", start: 2, end: 3 })).toBe("2\tline 2\n3\tline 3\n");
  expect(await call(tool, { path: "huge.txt", start: 3002 })).toBe("3002\tlast\n");
  expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
});

test("reading ends when the call is cancelled", async () => {
  using folder = new TestFolder({ "a.txt": lines(1, 100) });
  const cancelled = AbortSignal.abort(new Error("cancelled"));
  await expect(call(readTool(openWorkspace(folder.root)), { path: "a.txt" }, { signal: cancelled })).rejects.toThrow(
    "cancelled",
  );
});

test("a note names the path behind a link", async () => {
  using folder = new TestFolder({ "a.txt": "" });
  symlinkSync("a.txt", folder.path("b.txt"));
  expect(await call(readTool(openWorkspace(folder.root)), { path: "b.txt" })).toBe("[a.txt is empty]");
});
