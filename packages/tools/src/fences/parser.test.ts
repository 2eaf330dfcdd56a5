import { describe, expect, test } from "vitest";
import { blocksOf, Recorder } from "./blocks.fixture.ts";

/** Returns the texts of the blocks, with `...` after an unclosed one. */
const texts = (...pieces: readonly string[]) =>
  blocksOf(...pieces).map(({ text, end }) => (end === "closed" ? text : `${text}...`));

describe("B28: what opens a block", () => {
  test("backticks or tildes, three or more, with an info string", () => {
    expect(blocksOf("Look:\n```ts:3:5\nlet a;\n```\n~~~~ md  x \n~~~~\n")).toEqual([
      { line: 2, marker: "`", length: 3, indent: 0, info: "ts:3:5", text: "let a;\n", end: "closed" },
      { line: 5, marker: "~", length: 4, indent: 0, info: "md  x", text: "", end: "closed" },
    ]);
    expect(texts("``\nno\n``\n~~\nno\n~~\n")).toEqual([]);
    expect(texts("``~\nno\n``~\n")).toEqual([]);
  });

  test("up to three spaces of indentation; a tab or a fourth space makes it indented code", () => {
    expect(blocksOf("   ```\n   ```").map(({ indent }) => indent)).toEqual([3]);
    expect(texts("    ```\n    no\n    ```\n")).toEqual([]);
    expect(texts("\t```\n\tno\n\t```\n")).toEqual([]);
    expect(texts("  \t```\n")).toEqual([]);
  });

  test("a line in the middle of a paragraph", () => {
    expect(texts("foo\n```\nbar\n```\nbaz")).toEqual(["bar\n"]);
  });

  test("the info string of backticks has no backtick, so that inline code is no block; that of tildes may have", () => {
    expect(texts("``` ```\nno\n")).toEqual([]);
    expect(texts("```a``` and so on\nno\n")).toEqual([]);
    expect(blocksOf("~~~ aa ``` ~~~\nfoo\n~~~\n").map(({ info, text }) => [info, text])).toEqual([
      ["aa ``` ~~~", "foo\n"],
    ]);
    expect(texts("```a`\n```\nyes\n```\n")).toEqual(["yes\n"]);
  });

  test("the parser returns the info string as written", () => {
    expect(blocksOf("```\t a\\*b &amp; src/[x]\u00a0\t\n").map(({ info }) => info)).toEqual([
      "a\\*b &amp; src/[x]\u00a0",
    ]);
  });
});

describe("B28: what closes a block", () => {
  test("a closing fence has at least as many markers of the same kind, and nothing after them", () => {
    expect(texts("```\naaa\n~~~\n``\n```x\n``` `\n`````\n")).toEqual(["aaa\n~~~\n``\n```x\n``` `\n"]);
    expect(texts("~~~~\naaa\n~~~\n```\n~~~~ \t\n")).toEqual(["aaa\n~~~\n```\n"]);
  });

  test("a closing fence has up to three spaces before it, whatever the indentation of the first fence", () => {
    expect(texts("  ```\naaa\n```\n")).toEqual(["aaa\n"]);
    expect(texts("```\naaa\n   ```\n")).toEqual(["aaa\n"]);
    expect(texts("```\naaa\n    ```\n\t```\n")).toEqual(["aaa\n    ```\n\t```\n..."]);
  });

  test("a closer as the very last line, without a line end", () => {
    expect(texts("```\naaa\n```")).toEqual(["aaa\n"]);
    expect(texts("```\naaa\n``")).toEqual(["aaa\n``..."]);
    expect(texts("```\naaa\n```\r")).toEqual(["aaa\n"]);
  });

  test("a Markdown file with fences fits between longer fences, or fences of the other kind", () => {
    expect(texts("````md\n```ts\nlet a;\n```\n````\n~~~~\n~~~\n```\n~~~\n~~~~\n")).toEqual([
      "```ts\nlet a;\n```\n",
      "~~~\n```\n~~~\n",
    ]);
  });

  test("a block without a closing fence is unclosed", () => {
    expect(texts("```")).toEqual(["..."]);
    expect(texts("```\n")).toEqual(["..."]);
    expect(texts("````\n```\naaa\n")).toEqual(["```\naaa\n..."]);
    expect(texts("~~~\na\n~~~\n~~~\nb")).toEqual(["a\n", "b..."]);
  });
});

describe("B28: what is in a block", () => {
  test("each line of an indented block loses as many spaces as the fence has", () => {
    expect(texts("  ```\naaa\n  aaa\n    aaa\n aaa\n   \n  ```\n")).toEqual(["aaa\naaa\n  aaa\naaa\n \n"]);
    expect(texts("   ```\n   ~~~\n   ````x\n   ```\n")).toEqual(["~~~\n````x\n"]);
  });

  test("a tab at the beginning of a line stays a tab", () => {
    expect(texts("   ```make\n   all:\n   \tcc a.c\n\tcc b.c\n   ```\n")).toEqual(["all:\n\tcc a.c\n\tcc b.c\n"]);
  });

  test("empty lines, and blanks at the end of lines, are kept", () => {
    expect(texts("```\n\n  \n\t\na \t\n```\n")).toEqual(["\n  \n\t\na \t\n"]);
    expect(texts("```\n```\n")).toEqual([""]);
  });

  test("B31: blocks keep all kinds of line ends, and characters that resemble them", () => {
    expect(texts("```\r\na\r\nb\n\r\nc\rd\u2028e\u0085f\v\fg\r\n```\r\n")).toEqual([
      "a\r\nb\n\r\nc\rd\u2028e\u0085f\v\fg\r\n",
    ]);
    expect(texts("```\ra\r```\rb\r```\rc\r```\r")).toEqual(["a\r", "c\r"]);
    expect(blocksOf("\r\n\r\n```\r\n\r```\r\n\n```\r").map(({ line }) => line)).toEqual([3, 7]);
  });

  test("B31: null, a byte-order mark, half characters and emoji are kept", () => {
    const odd = "\0\ufeff\ud83d\ude00\ud83d x \ude00\u200d\ud83d";
    expect(texts(`\`\`\`\n${odd}\n\`\`\``)).toEqual([`${odd}\n`]);
  });
});

describe("B28: fences with something around them", () => {
  test("a fence after or below a list marker counts if it begins in the first three columns", () => {
    expect(blocksOf("- ```js\n  a\n  ```\n\n```ts\nb\n```\n").map(({ info, text }) => [info, text])).toEqual([
      ["js", "a\n"],
      ["ts", "b\n"],
    ]);
    expect(texts("1. Do this:\n   ```\n   a\n     b\n   ```\n2. ```\n   c\n   ```\n")).toEqual(["a\n  b\n", "c\n"]);
    expect(texts("-  ```\n   a\n   ```\n + ```\n   b\n   ```\n*) ```\n")).toEqual(["a\n", "b\n"]);
  });

  test("fences in block quotes, or further to the right, do not count", () => {
    expect(texts("> ```\n> a\n> ```\n")).toEqual([]);
    expect(texts("10. ```\n    a\n    ```\n- a\n  - ```\n    b\n    ```\n")).toEqual([]);
  });

  test("a line that leaves the list does not end its block", () => {
    expect(texts("- ```\n  a\nb\n```\n")).toEqual(["a\nb\n"]);
  });

  test("HTML hides no fence", () => {
    expect(texts("<details>\n```\na\n```\n</details>\n<!--\n```\nb\n```\n-->\n")).toEqual(["a\n", "b\n"]);
  });
});

describe("B28: text that comes in pieces", () => {
  test("is passed on at once, except a line that may still be the closing fence", () => {
    const recorder = new Recorder().push("```ts");
    expect(recorder.blocks).toEqual([]);
    recorder.push("\n");
    const [block] = recorder.blocks;
    const after = (piece: string) => recorder.push(piece) && block?.text;
    expect(after("le")).toBe("le");
    expect(after("t a")).toBe("let a");
    expect(after(";\n ")).toBe("let a;\n");
    expect(after("  ")).toBe("let a;\n");
    expect(after(" ")).toBe("let a;\n    ");
    expect(after("```\n``")).toBe("let a;\n    ```\n");
    expect(after("x")).toBe("let a;\n    ```\n``x");
    expect(after("\n`` ")).toBe("let a;\n    ```\n``x\n`` ");
    expect(after("\n~")).toBe("let a;\n    ```\n``x\n`` \n~");
    expect(after("\n```` ")).toBe("let a;\n    ```\n``x\n`` \n~\n");
    expect(block?.end).toBeUndefined();
    recorder.push("\n");
    expect(block?.end).toBe("closed");
  });

  test("a piece causes one report, however many lines it has", () => {
    expect(new Recorder().push("```\n", "a\nb\n  c\n`\n", "d").texts).toBe(2);
  });

  test("may be cut within a CRLF or a surrogate pair, and no half is passed on", () => {
    const recorder = new Recorder().push("```\r", "\na\ud83d");
    expect(recorder.blocks[0]?.text).toBe("a");
    expect(recorder.push("\ude00\r").blocks[0]?.text).toBe("a\ud83d\ude00");
    expect(recorder.push("\n```\r", "\n```\r", "\n\n").end()).toMatchObject([
      { line: 1, text: "a\ud83d\ude00\r\n" },
      { line: 4, text: "\n" },
    ]);
  });

  test("a long text without fences takes time in proportion to its length", () => {
    const many = 300_000;
    const recorder = new Recorder().push("```\n");
    for (let i = 0; i < many; i += 1) recorder.push("`");
    for (let i = 0; i < many; i += 1) recorder.push(" ");
    expect(recorder.blocks[0]?.text).toBe("");
    expect(recorder.push("x").blocks[0]?.text).toHaveLength(2 * many + 1);
    recorder.push("\n```\n~~~");
    for (let i = 0; i < many; i += 1) recorder.push("i");
    expect(recorder.push(" \t".repeat(many), "x\n").blocks[1]?.info).toHaveLength(3 * many + 1);
  });
});
