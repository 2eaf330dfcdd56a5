import { describe, expect, test } from "vitest";
import { SymbolFinder } from "./finder.ts";
import { findingIn } from "./finding.fixture.ts";

const typescript = findingIn("typescript");

test("B27: a range is in lines from 1, and ends before its last number", async () => {
  const symbols = await new SymbolFinder().read("let a;\n\n/** B. */\nlet b;", "typescript");
  expect(symbols.find("a")).toEqual({ name: "a", start: 1, end: 2 });
  expect(symbols.find(" b ")).toEqual({ name: "b", start: 3, end: 5 });
});

test("B27: the error for an unknown name lists similar names", async () => {
  const source = "class Tree {\n  grow() {}\n  growth() {}\n}\nfunction plant() {}\n";
  expect(await typescript.problem(source, "grow")).toBe(
    "unknown: There is no symbol grow. Did you mean Tree.grow or Tree.growth?",
  );
  expect(await typescript.problem(source, "Tree.gorw")).toMatch(/Did you mean Tree\.grow/);
  expect(await typescript.problem("function f(a: 1): 1;\nfunction f(a: 2): 2;\n", "fg")).toMatch(/Did you mean f\?$/);
  expect(await typescript.problem(source, "something else")).toBe("unknown: There is no symbol something else.");
  expect(await typescript.problem("", "a")).toBe("unknown: There is no symbol a.");
});

test("B31: CRLF, a byte-order mark, a missing last line end and characters of any length are no hindrance", async () => {
  const source =
    "\ufeff/** 😀 */\r\nclass A { // x\r\n  /** é\u2028 */\r\n  m() { return '😀\ud83d'; } // y\r\n\r\n  n() {}\r\n}";
  expect(await typescript.lines(source, "A")).toBe(source);
  expect(await typescript.lines(source, "A.m")).toBe("  /** é\u2028 */\r\n  m() { return '😀\ud83d'; } // y\r\n");
  expect(await typescript.lines(source, "A.n")).toBe("  n() {}\r\n");
  expect(await typescript.lines("\ufefflet a;", "a")).toBe("\ufefflet a;");
});

describe("B27: in a file with syntax errors,", () => {
  const source = `class A {
  m() {
    @@
  }
  n() {}
}
const = 1;
/** F. */
function f() {}
function g() {
  @@
}
`;

  test("the finder finds a symbol without errors, whatever its surroundings", async () => {
    expect(await typescript.lines(source, "A.n")).toBe("  n() {}\n");
    expect(await typescript.lines(source, "f")).toBe("/** F. */\nfunction f() {}\n");
  });

  test("the finder refuses a symbol with errors", async () => {
    expect(await typescript.problem(source, "A.m")).toBe(
      "syntax: There is a syntax error at line 3, so it is not certain where A.m (lines 2 to 4) ends. Use line numbers instead.",
    );
    expect(await typescript.problem(source, "A")).toMatch(/^syntax: .* at line 3, .* A \(lines 1 to 6\)/);
    expect(await typescript.problem(source, "g")).toMatch(/^syntax: .* at line 11, .* g \(lines 10 to 12\)/);
  });

  test("a missing bracket at the end is an error of its symbol", async () => {
    const open = "class A {\n  m() {}\n";
    expect(await typescript.lines(open, "A.m")).toBe("  m() {}\n");
    expect(await typescript.problem(open, "A")).toMatch(/^syntax: .* at line 2, .* A \(lines 1 to 2\)/);
  });

  test("the finder refuses a symbol that may lack its end: further indented lines follow", async () => {
    const closed = "class A {\n  m() {}\n}\n  n() {}\n}\n";
    expect(await typescript.problem(closed, "A")).toMatch(/^syntax: .* at line 4, .* A \(lines 1 to 3\)/);
    expect(await typescript.problem("@@\nlet a;\n  let b;\n", "a")).toMatch(/^syntax: .* at line 1, .* a \(line 2\)/);
    expect(await typescript.lines("let a;\n  let b;\n", "a")).toBe("let a;\n");
  });

  test("the finder finds symbols within an unreadable part only if they are not indented", async () => {
    const broken = "@@ {\n  const a = 1;\nconst b = 2;\n";
    expect(await typescript.lines(broken, "b")).toBe("const b = 2;\n");
    expect(await typescript.problem(broken, "a")).toBe(
      "unknown: There is no symbol a. Did you mean b? The syntax error at line 1 may hide the symbol.",
    );
    const open = "// A.\nclass A {\n  m() {}\n  n() {\n";
    expect(await typescript.problem(open, "m")).toBe(
      "unknown: There is no symbol m. The syntax error at line 2 may hide the symbol.",
    );
  });

  test("the same in other languages", async () => {
    const python = findingIn("python");
    expect(await python.lines("def a(:\n    pass\n\n# B.\ndef b():\n    pass\n", "b")).toBe(
      "# B.\ndef b():\n    pass\n",
    );
    const go = findingIn("go");
    expect(await go.lines("package a\n\nfunc a( {\n}\n\n// b is.\nfunc b() {\n}\n", "b")).toBe(
      "// b is.\nfunc b() {\n}\n",
    );
    const rust = findingIn("rust");
    expect(await rust.lines("fn a( {\n}\n\n/// B.\nfn b() {\n}\n", "b")).toBe("/// B.\nfn b() {\n}\n");
  });
});

describe("a text that is long,", () => {
  const unit = (n: number) =>
    `/** ${n} */\nexport class A${n} {\n  m(x: number) {\n    return [x, ${n}].map((y) => y + 1);\n  }\n}\n`;
  const units = Array.from({ length: 24_000 }, (_, n) => unit(n));
  const source = units.join("");

  test.runIf(process.env.BANYAN_LONG)("of 2 MB, is read, and its symbols are found", async () => {
    expect(source.length).toBeGreaterThan(2_000_000);
    const symbols = await new SymbolFinder().read(source, "typescript");
    expect(symbols.find("A20000")).toEqual({ name: "A20000", start: 120_001, end: 120_007 });
    expect(symbols.find("A23999.m")).toEqual({ name: "A23999.m", start: 143_997, end: 144_000 });
    expect(() => symbols.find("A23999.n")).toThrow(/Did you mean A23999\.m/);
  });

  test("does not hold up everything else while it is parsed", async () => {
    const finder = new SymbolFinder();
    await finder.read("let loaded;", "typescript");
    let turns = 0;
    let isReading = true;
    const goOn = () => {
      turns += 1;
      if (isReading) setImmediate(goOn);
    };
    setImmediate(goOn);
    const symbols = await finder.read(`const list = [${"1,".repeat(200_000)}];`, "typescript");
    isReading = false;
    expect(turns).toBeGreaterThan(3);
    expect(symbols.find("list").start).toBe(1);
  });

  test("B22: is given up when the signal aborts, and the next one is read as ever", async () => {
    const finder = new SymbolFinder();
    const stop = new AbortController();
    const reading = finder.read(source, "typescript", stop.signal);
    const reason = new Error("Enough.");
    setImmediate(() => stop.abort(reason));
    await expect(reading).rejects.toBe(reason);
    await expect(finder.read("let a;", "typescript", stop.signal)).rejects.toBe(reason);
    expect((await finder.read("let a;", "typescript")).find("a").start).toBe(1);
  });
});

test("the finder refuses a text that is too long before it loads a parser", async () => {
  await expect(new SymbolFinder().read(" ".repeat(4_000_001), "go")).rejects.toMatchObject({
    code: "size",
    message: expect.stringMatching(/4000001 characters, more than 4000000/),
  });
});

test("deep nesting and long blank lines cost no more than other text", async () => {
  const deep = `function a() {${"function b() {".repeat(50_000)}${"}".repeat(50_001)}`;
  expect(await typescript.lines(deep, "a")).toBe(deep);
  expect(await typescript.problem(deep, "c")).toMatch(/Did you mean a\?$/);
  const wide = `// a\n${" ".repeat(3_000_000)}${"let a;".repeat(50_000)}\nlet b;\n`;
  expect(await typescript.lines(wide, "b")).toBe("let b;\n");
});
