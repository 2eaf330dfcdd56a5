import { describe, expect, test } from "vitest";
import { type Addressee, type EditMode, formatAddress, parseBlockAddress } from "./address.ts";

const file = (path: string, mode: EditMode = "lines"): Addressee => ({
  path,
  mode,
  aliases: [`./${path}`, `/w/${path}`],
});
const a = file("src/a.ts");
const b = file("src/b.ts");

/** Returns an address in short: `src/a.ts 2 5`, `nothing`, or the reason why it is invalid. */
function read(info: string, ...files: readonly Addressee[]): string {
  const address = parseBlockAddress(info, files);
  switch (address.type) {
    case "none":
      return "nothing";
    case "wrong":
      return `${address.file?.path ?? "no file"}: ${address.why}`;
    case "target":
      return [address.file.path, ...Object.values(address.target)].join(" ");
  }
}

describe("B27: lines", () => {
  test.each([
    ["ts:10:14", "src/a.ts lines 10 14"],
    ["ts:10:10", "src/a.ts lines 10 10"],
    [":10:14", "src/a.ts lines 10 14"],
    ["ts:10:14 the loop", "src/a.ts lines 10 14"],
    ["ts:src/a.ts:10:14", "src/a.ts lines 10 14"],
    ["ts:./src/a.ts:10:14", "src/a.ts lines 10 14"],
    ["ts:src/../src/a.ts:10:14", "src/a.ts lines 10 14"],
    ["ts:/w/src/a.ts:10:14", "src/a.ts lines 10 14"],
    ["ts:10:14 path=src/a.ts", "src/a.ts lines 10 14"],
    ['path="src/a.ts" ts:10:14', "src/a.ts lines 10 14"],
    ["ts:10:14 path='src/a.ts'", "src/a.ts lines 10 14"],
  ])("%s", (info, expected) => {
    expect(read(info, a)).toBe(expected);
  });

  test("a path may have spaces and colons", () => {
    const odd = file("notes/to do: 1:2.md");
    expect(read('md:3:4 path="notes/to do: 1:2.md"', odd, a)).toBe("notes/to do: 1:2.md lines 3 4");
    expect(read("md:notes/to do: 1:2.md:3:4 the end", odd, a)).toBe("notes/to do: 1:2.md lines 3 4");
    const colon = file("a:b.ts");
    expect(read("ts:a:b.ts:3:4", colon, a)).toBe("a:b.ts lines 3 4");
  });

  test("the longer of two paths counts", () => {
    expect(read("ts:a:1:1:2", file("a"), file("a:1"))).toBe("a:1 lines 1 2");
  });
});

test.each(["", "ts", "js {1,3-4}", "ts title=a:b", "c++ example"])(
  "B28: a fence with the info %j is for the reader",
  (info) => {
    for (const mode of ["lines", "symbol", "complete"] as const) expect(read(info, file("a.ts", mode))).toBe("nothing");
  },
);

test.each([
  ["ts:10", "src/a.ts: does not name its lines; write them as START:END"],
  ["ts:10-14", "src/a.ts: does not name its lines; write them as START:END"],
  ["ts:", "src/a.ts: does not name its lines; write them as START:END"],
  ["10:14", "src/a.ts: does not name its lines; write them as START:END"],
  ["ts path=src/a.ts", "src/a.ts: does not name its lines; write them as START:END"],
  ["ts:src/c.ts:1:2", "no file: is for src/c.ts, and edit_mode was not called for that file"],
  ["ts:1:2 path=src/c.ts", "no file: is for src/c.ts, and edit_mode was not called for that file"],
])("a failed attempt at an address is wrong, not prose: %s", (info, expected) => {
  expect(read(info, a)).toBe(expected);
});

describe("B29: several files", () => {
  test("a fence must name its file", () => {
    expect(read("ts:src/b.ts:1:2", a, b)).toBe("src/b.ts lines 1 2");
    expect(read("ts:1:2 path=src/a.ts", a, b)).toBe("src/a.ts lines 1 2");
  });

  test.each(["ts:1:2", "ts:c.ts", "ts:1"])("%s is not guessed", (info) => {
    expect(read(info, a, b)).toBe("no file: does not name its file (src/a.ts, src/b.ts)");
  });

  test("a path that only looks like one of them is another one", () => {
    expect(read("ts:b.ts:1:2", a, b)).toBe("no file: is for b.ts, and edit_mode was not called for that file");
  });

  test("each file has its mode", () => {
    const files = [file("a.ts"), file("b.md", "complete"), file("c.py", "symbol")];
    expect(read("ts:a.ts:1:2", ...files)).toBe("a.ts lines 1 2");
    expect(read("md:b.md", ...files)).toBe("b.md complete");
    expect(read("py:c.py:Box.size:after", ...files)).toBe("c.py symbol Box.size after");
  });
});

test("B27: the whole file", () => {
  const readme = file("README.md", "complete");
  expect(read("md:README.md", readme)).toBe("README.md complete");
  expect(read("md path=README.md", readme)).toBe("README.md complete");
  expect(read("md:", readme)).toBe("README.md complete");
  expect(read("path=README.md", readme)).toBe("README.md complete");
  expect(read("md:README.md:1:2", readme)).toBe(
    "README.md: names a part of README.md, but in mode complete one block is the whole file",
  );
  expect(read("md:other.md", readme)).toBe("no file: is for other.md, and edit_mode was not called for that file");
});

test.each([
  ["ts:Box.size", "src/a.ts symbol Box.size replace"],
  ["ts:Box.size:before", "src/a.ts symbol Box.size before"],
  ["ts:Box.size:after", "src/a.ts symbol Box.size after"],
  ["ts:src/a.ts:Box.size:remove", "src/a.ts symbol Box.size remove"],
  ["ts:Box path=src/a.ts", "src/a.ts symbol Box replace"],
  ["ts:after", "src/a.ts symbol after replace"],
  ["ts:src/a.ts", "src/a.ts: does not name its symbol"],
  ["ts::after", "src/a.ts: does not name its symbol"],
])("B27: a symbol: %s", (info, expected) => {
  expect(read(info, file("src/a.ts", "symbol"))).toBe(expected);
});

test.each([
  [file("src/a.ts"), "START:END", "ts:START:END", "ts:src/a.ts:START:END"],
  [file("my notes.md", "complete"), "", "md", 'md path="my notes.md"'],
  [file('"a".ts'), "1:2", "ts:1:2", 'ts:1:2 path="\\"a\\".ts"'],
  [file("a\nb'\".ts"), "1:2", "ts:1:2", `ts:1:2 path="a\\nb'\\".ts"`],
  [file("src\\a.ts"), "1:2", "ts:1:2", 'ts:1:2 path="src\\\\a.ts"'],
])("the stated address of %j is read back as the same address", (addressee, target, alone, named) => {
  const language = addressee.path.endsWith(".md") ? "md" : "ts";
  expect(formatAddress(addressee, language, target, false)).toBe(alone);
  expect(formatAddress(addressee, language, target, true)).toBe(named);
  const told = formatAddress(addressee, language, target === "START:END" ? "1:2" : target, true);
  expect(parseBlockAddress(told, [a, b, addressee])).toMatchObject({ type: "target", file: addressee });
});
