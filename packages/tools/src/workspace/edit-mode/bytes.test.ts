import { chmodSync, linkSync, readFileSync, readlinkSync, statSync, symlinkSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { TestFolder } from "../test-folder.fixture.ts";
import { arm, block, play } from "./play.fixture.ts";

/** Returns the bytes of a file after these blocks. Checks that they were applied. */
async function edited(before: string | Buffer, ...blocks: readonly string[]): Promise<string> {
  using folder = new TestFolder({ "a.txt": before });
  const { said } = await play(folder, [arm("a.txt"), blocks.join(""), "Done."]);
  expect(said.join()).toMatch(/^All blocks were applied/);
  return readFileSync(folder.path("a.txt"), "utf8");
}

describe("B31: parts that no block names stay the same, byte for byte", () => {
  test.each([
    ["CRLF", "1\r\n2\r\n3\r\n", "1\r\nx\r\ny\r\n3\r\n"],
    ["mixed line ends", "1\n2\r\n3\n", "1\nx\r\ny\r\n3\n"],
    ["no final line end", "1\n2\n3", "1\nx\ny\n3"],
    ["a byte-order mark", "\ufeff1\n2\n3\n", "\ufeff1\nx\ny\n3\n"],
    ["tabs and trailing blanks", "\t1 \t\n2\n\t\t3  ", "\t1 \t\nx\ny\n\t\t3  "],
    [
      "control and odd characters",
      "\x1b[1m\u2028\n2\n\ufeff\u200d\u0085\r3\n",
      "\x1b[1m\u2028\nx\ny\n\ufeff\u200d\u0085\r3\n",
    ],
  ])("%s", async (_, before, after) => {
    expect(await edited(before, block("txt:2:3", "x", "y"))).toBe(after);
  });

  test("very long lines", async () => {
    const long = "lang \u{1f333} ".repeat(200_000);
    expect(await edited(`${long}\n2\n${long}`, block("txt:2:3", long))).toBe(`${long}\n${long}\n${long}`);
  });

  test("50 MB", async () => {
    const line = "0123456789 äöü 0123456789 0123456789 0123456789\r\n";
    const lines = Math.ceil((50 * 1024 * 1024) / Buffer.byteLength(line));
    const before = line.repeat(lines);
    const after = await edited(
      before,
      block(`txt:${lines}:${lines}`, "x"),
      block("txt:3:5"),
      block("txt:1:1", "first"),
    );
    const expected = `first\r\n${line.repeat(2)}${line.repeat(lines - 5)}x\r\n${line}`;
    // `toBe` would print both texts.
    expect(after === expected).toBe(true);
  }, 120_000);

  test("the mode of the file", async () => {
    using folder = new TestFolder({ "run.sh": "echo 1\n" });
    chmodSync(folder.path("run.sh"), 0o750);
    await play(folder, [arm("run.sh"), block("sh:1:2", "echo 2"), "Done."]);
    expect(statSync(folder.path("run.sh")).mode & 0o777).toBe(0o750);
    expect(folder.read("run.sh")).toBe("echo 2\n");
  });

  test("in mode complete, too: line ends, byte-order mark, no final line end", async () => {
    using folder = new TestFolder({ "a.txt": "\ufeff1\r\n2", "b.txt": "1\n2\r\n3\n" });
    await play(folder, [
      arm("a.txt complete overwrite", "b.txt complete overwrite"),
      block("txt:a.txt", "x", "y", "z") + block("txt:b.txt", "x", "y", "z", "zz"),
      "Done.",
    ]);
    expect(readFileSync(folder.path("a.txt"), "utf8")).toBe("\ufeffx\r\ny\r\nz");
    expect(folder.read("b.txt")).toBe("x\ny\r\nz\nzz\n");
  });

  test("an empty new file", async () => {
    using folder = new TestFolder();
    await play(folder, [arm("empty.txt"), block("txt"), "Done."]);
    expect(folder.read("empty.txt")).toBe("");
  });
});

/** Returns the result for the model when it arms the file `a`. */
async function refusal(folder: TestFolder, path = "a"): Promise<string> {
  const { results, said } = await play(folder, [arm(path), "I see."]);
  expect(said).toEqual([]);
  return results.join();
}

describe("a file that cannot be edited so is refused when it is armed", () => {
  test.each([
    [
      "half a character of UTF-16",
      Buffer.from("\ufeffone\ud800", "utf16le"),
      "a is not valid UTF-16LE, perhaps because it has an older encoding such as Latin-1. Only UTF-8 and UTF-16 text can be changed, so that no byte is lost; a command can convert it first.",
    ],
    [
      "Latin-1",
      Buffer.from("gr\xfc\xdfe", "latin1"),
      "a is not valid UTF-8, perhaps because it has an older encoding such as Latin-1. Only UTF-8 and UTF-16 text can be changed, so that no byte is lost; a command can convert it first.",
    ],
    ["binary", Buffer.from([0, 1, 2]), "a is binary data, 3 bytes; only text can be changed."],
  ])("%s", async (_, content, expected) => {
    using folder = new TestFolder({ a: content });
    expect(await refusal(folder)).toBe(`The tool failed: ${expected}`);
  });

  test("S8: a file outside, a protected file, a folder, or a file with another name", async () => {
    using folder = new TestFolder({ "sub/x": "", a: "one\n", ".git/config": "" });
    symlinkSync(`${folder.outside}/secret.txt`, folder.path("out"));
    linkSync(folder.path("a"), folder.path("b"));
    expect(await refusal(folder, "../outside/secret.txt")).toMatch(/leads out of the workspace/);
    expect(await refusal(folder, "out")).toMatch(/leads out of the workspace/);
    expect(await refusal(folder, ".git/config")).toMatch(/tools never write to \.git/);
    expect(await refusal(folder, "sub")).toMatch(/sub is a folder\. Name a file\./);
    expect(await refusal(folder)).toMatch(/a has 2 hard links/);
  });

  test("a language without grammar, in mode symbol", async () => {
    using folder = new TestFolder({ "a.css": "a {}\n" });
    expect(await refusal(folder, "a.css symbol")).toMatch(/^The tool failed: .*css/i);
  });
});

test("S8: a link inside the workspace is followed, and stays a link", async () => {
  using folder = new TestFolder({ "real/a.txt": "1\n" });
  symlinkSync("real/a.txt", folder.path("link.txt"));
  const { said } = await play(folder, [arm("link.txt"), block("txt:link.txt:1:2", "x"), "Done."]);
  expect(said.join()).toMatch(/real\/a\.txt: 1 block applied/);
  expect(folder.read("real/a.txt")).toBe("x\n");
  expect(readlinkSync(folder.path("link.txt"))).toBe("real/a.txt");
});
