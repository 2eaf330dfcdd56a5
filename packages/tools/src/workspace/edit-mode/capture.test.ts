import { describe, expect, test } from "vitest";
import type { Addressee, EditMode } from "./address.ts";
import { Capture, captureMessage } from "./capture.ts";

const file = (path: string, mode: EditMode = "lines"): Addressee => ({ path, mode, aliases: [] });
const a = file("a.ts");
const readme = file("README.md", "complete");

/** Returns the blocks in a message of these text parts: `block 1 (ts:1:2) a.ts "x\n"`. */
function captured(files: readonly Addressee[], ...texts: readonly string[]): readonly string[] {
  const parts = texts.map((text) => ({ type: "text", text }) as const);
  const { blocks, wrong, doubts, plain } = captureMessage(parts, files);
  return [
    ...blocks.map(({ name, file: { path }, text }) => `${name} ${path} ${JSON.stringify(text)}`),
    ...wrong.map(({ file: { path }, why }) => `${path}: ${why}`),
    ...doubts,
    ...(plain > 0 ? [`${plain} plain`] : []),
  ];
}

describe("B28: the blocks of a message for its files", () => {
  test("the blocks with an address, in order; other fences are for the reader", () => {
    const message = "Look:\n```ts:1:2\nx\n```\nas in\n```ts\nexample\n```\n~~~ts:4:4\n```\n~~~\n```ts:5:6\n```\n";
    expect(captured([a], message)).toEqual([
      'block 1 (ts:1:2) a.ts "x\\n"',
      'block 2 (ts:4:4) a.ts "```\\n"',
      'block 3 (ts:5:6) a.ts ""',
      "1 plain",
    ]);
  });

  test("wherever the text is cut into pieces", () => {
    const message = "é\n```ts:1:2\r\n\u{1f333}\r\ny\r\n```\r\n````ts:9:9\n```\n````";
    for (let first = 0; first <= message.length; first += 1) {
      for (let second = first; second <= message.length; second += 7) {
        const capture = new Capture([a]);
        for (const piece of [message.slice(0, first), message.slice(first, second), message.slice(second)])
          capture.push(piece);
        expect(capture.end().blocks.map(({ text }) => text)).toEqual(["\u{1f333}\ny\n", "```\n"]);
      }
    }
  });

  test("a block that is still open at the end of the message puts all of it in doubt", () => {
    expect(captured([a], "```ts:1:2\nx\n```\n```ts:3:4\ny\n")).toEqual([
      'block 1 (ts:1:2) a.ts "x\\n"',
      "block 2 (ts:3:4) is not closed",
    ]);
    expect(captured([a], "```ts:1:2\nx\n```\n```ts\ny\n")).toEqual(['block 1 (ts:1:2) a.ts "x\\n"', "1 plain"]);
  });

  test("a closer as the very last line needs no line end", () => {
    expect(captured([a], "```ts:1:2\nx\n```")).toEqual(['block 1 (ts:1:2) a.ts "x\\n"']);
  });

  test("a block without a certain file puts all in doubt; a block for a known file concerns that file", () => {
    expect(captured([a], "```ts:1:2\nx\n```\n```ts:aa.ts:3:4\ny\n```\n")).toEqual([
      'block 1 (ts:1:2) a.ts "x\\n"',
      "block 2 (ts:aa.ts:3:4) is for aa.ts, and edit_mode was not called for that file",
    ]);
    expect(captured([a, file("b.ts")], "```ts:a.ts:1:2\nx\n```\n```ts:1:2\ny\n```\n")).toEqual([
      'block 1 (ts:a.ts:1:2) a.ts "x\\n"',
      "block 2 (ts:1:2) does not name its file (a.ts, b.ts)",
    ]);
    expect(captured([a], "```ts:1:2\nx\n```\n```ts:7\ny\n```\n")).toEqual([
      'block 1 (ts:1:2) a.ts "x\\n"',
      "a.ts: block 2 (ts:7) does not name its lines; write them as START:END",
    ]);
  });

  test("an info string of any length makes a short name", () => {
    const [name = ""] = captured([a], `\`\`\`ts:1:2 ${"x".repeat(10_000)}\n\`\`\`\n`);
    expect(name).toMatch(/^block 1 \(ts:1:2 x{73}\.\.\.\) a\.ts ""$/);
  });
});

describe("text parts", () => {
  test("a new part is a new paragraph, so a fence may begin with it", () => {
    expect(captured([a], "I change it.", "```ts:1:2\nx\n```", "```ts:3:4\ny\n```", "Done.")).toEqual([
      'block 1 (ts:1:2) a.ts "x\\n"',
      'block 2 (ts:3:4) a.ts "y\\n"',
    ]);
  });

  test("a block goes on in the next part", () => {
    expect(captured([a], "```ts:1:2\nx = ", "1\n```\n")).toEqual(['block 1 (ts:1:2) a.ts "x = 1\\n"']);
  });
});

describe("B27: the whole file", () => {
  test("is the one fence of the message, with an address or without", () => {
    expect(captured([readme], "Here:\n```md\n# Hi\n```\n")).toEqual(['block 1 (md) README.md "# Hi\\n"']);
    expect(captured([readme], "```\n# Hi\n```\n")).toEqual(['block 1 README.md "# Hi\\n"']);
    expect(captured([readme], "```md:README.md\n# Hi\n```\n")).toEqual(['block 1 (md:README.md) README.md "# Hi\\n"']);
    expect(captured([readme], "Nothing to do.")).toEqual([]);
  });

  test("is the fence with its name among several fences", () => {
    expect(captured([readme], "```md:README.md\n# Hi\n```\nRun\n```sh\nls\n```\n")).toEqual([
      'block 1 (md:README.md) README.md "# Hi\\n"',
      "1 plain",
    ]);
    expect(captured([readme], "```md\n# Hi\n```\nRun\n```sh\nls\n```\n")).toEqual([
      "README.md: there are 2 fences, and none is marked as the file",
    ]);
  });

  test("is in doubt when it is not closed", () => {
    expect(captured([readme], "```md\n# Hi\n")).toEqual(["block 1 (md) is not closed"]);
  });
});

describe("B28: fences within a block", () => {
  const content = "# Hi\n```js\nx\n```\n~~~\ny\n~~~\n";

  test("are text when the block's own are longer, or of the other kind", () => {
    for (const fence of ["````", "~~~~", "``````````"])
      expect(captured([readme], `${fence}md:README.md\n${content}${fence}\n`)).toEqual([
        `block 1 (${"md:README.md"}) README.md ${JSON.stringify(content)}`,
      ]);
  });

  const early = (name: string) => `${name} may have ended at a fence inside its text; write \`\`\`\` around it`;

  test.each(["md:README.md", "md"])(
    "that have ended a block too early are noticed, so that no part of a file is written for the whole: %s",
    (info) => {
      expect(captured([readme], `\`\`\`${info}\n${content}\`\`\`\n`)).toContain(early(`block 1 (${info})`));
      const even = "# Hi\n```\nx\n```\nmore\n";
      expect(captured([readme], `\`\`\`${info}\n${even}\`\`\`\n`)).toContain(early(`block 1 (${info})`));
    },
  );

  test("in the text of a program, too, as far as the end of the message shows it", () => {
    const source = "/**\n```js\nx\n```\n*/\n";
    expect(captured([a], `\`\`\`ts:1:2\n${source}\`\`\`\n`)).toContain(early("block 1 (ts:1:2)"));
  });

  test("are no matter where a fence that follows cannot have been a closing one", () => {
    const notes = file("a.md");
    const after = "Then\n```\noutput\n```\n";
    for (const message of ["````md:1:2\nx\n````\n", "~~~md:1:2\nx\n~~~\n"])
      expect(captured([notes], message + after)).toEqual(['block 1 (md:1:2) a.md "x\\n"', "1 plain"]);
    expect(captured([notes], `${after}\`\`\`md:1:2\nx\n\`\`\`\n`)).toEqual(['block 1 (md:1:2) a.md "x\\n"', "1 plain"]);
    expect(captured([a], `\`\`\`ts:1:2\nx\n\`\`\`\n${after}`)).toEqual(['block 1 (ts:1:2) a.ts "x\\n"', "1 plain"]);
  });

  test("a line that only looks like an opening fence is text", () => {
    expect(captured([file("a.md")], "```md:1:2\n```js\n```\nFor example\n```sh\nls\n```\n")).toEqual([
      'block 1 (md:1:2) a.md "```js\\n"',
      "1 plain",
    ]);
  });
});
