import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { plainText } from "../../../show/plain-text.ts";
import { textWidth, withoutColors } from "../screen/cells.ts";
import { createTheme } from "../theme/theme.ts";
import { createHighlighter } from "./highlighter.ts";
import { LateHighlight, type Look } from "./look.ts";
import { MarkdownStream } from "./markdown-stream.ts";

const theme = createTheme(4, "dark");
const look: Look = { theme, links: false };

/** The lines of a complete text. */
function shown(text: string, width = 40, more: Partial<Look> = {}): string[] {
  const stream = new MarkdownStream();
  stream.push(text);
  stream.end();
  return stream.show(width, 10, { ...look, ...more }).finished.map(withoutColors);
}

/** The final lines of a text in pieces, and the open lines after each piece. */
function streamed(text: string, { size = 1, width = 40, room = 10 } = {}) {
  const stream = new MarkdownStream();
  const finished: string[] = [];
  const open: (readonly string[])[] = [];
  for (let at = 0; at <= text.length; at += size) {
    stream.push(text.slice(at, at + size));
    const now = stream.show(width, room, look);
    finished.push(...now.finished.map(withoutColors));
    open.push(now.open.map(withoutColors));
  }
  stream.end();
  finished.push(...stream.show(width, room, look).finished.map(withoutColors));
  return { finished, open };
}

const TEXT = `# Title

A paragraph with **bold**, *italic*, \`code\` and a [link](https://example.com/x).
It goes on here.

1. one
2. two
   with more
   - inner
3. three

- [x] done
- [ ] to do

> quoted
> text

\`\`\`ts
const a = 1;

const b = "two";
\`\`\`

| name | count |
|:-----|------:|
| a    | 1     |
| long name | 200 |

---

Last words.
`;

const LINES = [
  "# Title",
  "",
  "A paragraph with bold, italic, code and",
  "a link (https://example.com/x). It goes",
  "on here.",
  "",
  "1. one",
  "2. two with more",
  "   • inner",
  "3. three",
  "",
  "• [x] done",
  "• [ ] to do",
  "",
  "│ quoted text",
  "",
  "  ts",
  "  const a = 1;",
  "",
  '  const b = "two";',
  "",
  "name      │ count",
  "──────────┼──────",
  "a         │     1",
  "long name │   200",
  "",
  "────────────────────────────────────────",
  "",
  "Last words.",
];

describe("T22: Markdown", () => {
  test("is headings, lists, tasks, quotes, code and tables", () => {
    expect(shown(TEXT)).toEqual(LINES);
  });

  test.each([1, 2, 3, 7, 50])("comes to the same in pieces of %i", (size) => {
    expect(streamed(TEXT, { size }).finished).toEqual(LINES);
  });

  test("a change is visible while it streams, with open lines below final lines", () => {
    const stream = new MarkdownStream();
    stream.push("Some **bold");
    expect(stream.show(40, 10, look)).toEqual({ finished: [], open: ["Some **bold"] });
    stream.push("** text.\n\n- one\n- two\n- th");
    const { finished, open } = stream.show(40, 10, look);
    expect(finished.map(withoutColors)).toEqual(["Some bold text.", "", "• one"]);
    expect(open.map(withoutColors)).toEqual(["• two", "• th"]);
  });

  test("each word of an open block is visible immediately", () => {
    const stream = new MarkdownStream();
    const finished: string[] = [];
    for (let at = 1; at <= TEXT.length; at++) {
      stream.push(TEXT.charAt(at - 1));
      const now = stream.show(80, 30, look);
      finished.push(...now.finished);
      const seen = withoutColors([...finished, ...now.open].join(" "));
      const missing = (TEXT.slice(0, at).match(/[a-z]{3,}/g) ?? []).filter((word) => !seen.includes(word));
      expect(missing).toEqual([]);
    }
  });

  test("code is final line by line", () => {
    const stream = new MarkdownStream();
    stream.push("```js\nlet a;\nlet b");
    const { finished, open } = stream.show(40, 10, look);
    expect(finished.map(withoutColors)).toEqual(["  js", "  let a;"]);
    expect(open.map(withoutColors)).toEqual(["  let b"]);
  });

  test("code keeps its blanks, its empty lines and lines that look like Markdown", () => {
    const code = "~~~\n# no heading\n\n\tindented `x`\n```\n~~~\nend";
    expect(shown(code)).toEqual(["  # no heading", "", "      indented `x`", "  ```", "", "end"]);
    expect(streamed(code).finished).toEqual(shown(code));
  });

  test("code that does not end is shown to its end", () => {
    expect(streamed("see\n```\na\n  b").finished).toEqual(["see", "", "  a", "    b"]);
  });

  test("a long line of code is one line when it is final, and fits the terminal before", () => {
    const line = "x".repeat(100);
    const { finished, open } = streamed(`\`\`\`\n${line}\n\`\`\`\n`, { size: 20 });
    expect(finished).toEqual([`  ${line}`]);
    for (const lines of open) for (const one of lines) expect(textWidth(one)).toBeLessThanOrEqual(40);
  });

  test("a table of more than 200 rows is cut, with a count", () => {
    const rows = Array.from({ length: 250 }, (_, index) => `| ${index} | x |`);
    const text = `| n | v |\n|---|---|\n${rows.join("\n")}\n`;
    for (const lines of [shown(text), streamed(text, { size: 30 }).finished]) {
      expect(lines).toHaveLength(2 + 200 + 1);
      expect(lines.at(-1)).toBe("… (50 more rows)");
      expect(lines.at(-2)).toMatch(/^199/);
    }
  });

  test("a table is as wide as the terminal at most: its cells are broken into lines", () => {
    const text = "| a | b |\n|---|---|\n| one two three four | five six seven |\n";
    const lines = shown(text, 24);
    expect(lines).toEqual([
      "a          │ b",
      "───────────┼────────────",
      "one two    │ five six",
      "three four │ seven",
    ]);
    expect(shown(text, 8)).toEqual(["a: one", "two", "three", "four", "b: five", "six", "seven", ""]);
  });

  test("a table is never wider than the terminal", () => {
    const text = `| a | ${"b".repeat(60)} | c |\n|---|---|---|\n| ${"x ".repeat(40)} | y | ${"z".repeat(30)} |\n`;
    for (const width of [15, 24, 37, 80])
      for (const line of shown(text, width)) expect(textWidth(line)).toBeLessThanOrEqual(width);
  });

  test("a table that is longer than the room for it goes up row by row, with its columns as they are", () => {
    const rows = Array.from({ length: 30 }, (_, index) => `| row ${index} | x |`);
    const { finished, open } = streamed(`| n | v |\n|---|---|\n${rows.join("\n")}\n`, { size: 12, room: 5 });
    expect(finished).toHaveLength(32);
    expect(finished.at(-1)).toBe("row 29    │ x");
    expect(Math.max(...open.map((lines) => lines.length))).toBeLessThanOrEqual(5);
    expect(open.some((lines) => lines[0]?.startsWith("row 2"))).toBe(true);
  });

  test("a paragraph that is longer than the room for it goes up line by line, and no word is lost", () => {
    const words = Array.from({ length: 300 }, (_, index) =>
      index % 40 === 20 ? `**w${index} and` : index % 40 === 30 ? `so** w${index}` : `w${index}`,
    );
    const text = `${words.join(" ")}\n`;
    const { finished, open } = streamed(text, { size: 11, width: 30, room: 6 });
    expect(finished.join(" ")).toBe(words.join(" ").replaceAll("**", ""));
    expect(
      finished
        .slice(0, -1)
        .map(textWidth)
        .filter((columns) => columns > 30 || columns < 20),
    ).toEqual([]);
    expect(Math.max(...open.map((lines) => lines.length))).toBe(6);
  });

  test("items of a list keep their numbers", () => {
    expect(streamed("1. a\n1. b\n1. c\n", { size: 2 }).finished).toEqual(["1. a", "2. b", "3. c"]);
    expect(shown("7. a\n8. b\n")).toEqual(["7. a", "8. b"]);
  });

  test("list items with empty lines between them keep the empty lines", () => {
    const text = "- a\n\n- b\n\n  more\n- c\n";
    expect(shown(text)).toEqual(["• a", "", "• b", "", "  more", "• c"]);
    expect(streamed(text).finished).toEqual(shown(text));
  });

  test("a link shows its address besides its text, and can be clicked in terminals with links", () => {
    expect(shown("[bank.example](https://evil.example) <https://a.example> me@x.example", 80)).toEqual([
      "bank.example (https://evil.example) https://a.example me@x.example",
    ]);
    const stream = new MarkdownStream();
    stream.push("[a](https://b.example)");
    stream.end();
    const [line] = stream.show(80, 10, { ...look, links: true }).finished;
    expect(line).toContain("\x1b]8;;https://b.example\x1b\\");
  });

  test("one tilde strikes nothing", () => {
    expect(shown("~5 minutes or ~10")).toEqual(["~5 minutes or ~10"]);
  });

  test("wide characters and emoji are broken where they must be", () => {
    for (const line of shown("漢字".repeat(30) + " 👩‍👩‍👧‍👦".repeat(20), 21))
      expect(textWidth(line)).toBeLessThanOrEqual(21);
  });

  test("without colours the marks of code and headings stay", () => {
    expect(shown("## a `b`", 40, { theme: createTheme(1, "dark") })).toEqual(["## a `b`"]);
  });
});

test("T40: the highlighter loads while the user pauses, not while the user types", async () => {
  let keyAt = performance.now();
  const loaded = Promise.withResolvers<number>();
  const late = new LateHighlight(
    () => theme,
    () => loaded.resolve(performance.now()),
  );
  const typing = setInterval(() => {
    keyAt = performance.now();
  }, 20);
  late.loadAhead(() => keyAt);
  await sleep(1_000);
  expect(late.now).toBe(undefined);
  clearInterval(typing);
  const rested = keyAt;
  expect(await loaded.promise).toBeGreaterThan(rested + 299);
  expect(late.now?.("const a;", "js")).toEqual([`${theme.keyword("const")} a;`]);
});

describe("T23: code", () => {
  const highlight = createHighlighter(() => theme);
  const paint = (text: string, one = theme) => {
    const stream = new MarkdownStream();
    stream.push(text);
    stream.end();
    return stream.show(80, 10, { theme: one, links: false, highlight }).finished;
  };

  test("is painted by its language, over lines too", () => {
    const [, ...lines] = paint("```ts\nconst a = `x\ny`; // z\n```\n");
    expect(lines).toEqual([
      `  ${theme.keyword("const")} a = ${theme.string("`x")}`,
      `  ${theme.string("y`")}; ${theme.comment("// z")}`,
    ]);
  });

  test("is painted the same when it comes line by line", () => {
    const stream = new MarkdownStream();
    const lines: string[] = [];
    for (const piece of "```py\nx = '''a\nb\n'''\n# c\n```\n".match(/.{1,3}|\n/gs) ?? []) {
      stream.push(piece);
      lines.push(...stream.show(80, 10, { ...look, highlight }).finished);
    }
    expect(lines.slice(1)).toEqual([
      `  x = ${theme.string("'''a")}`,
      `  ${theme.string("b")}`,
      `  ${theme.string("'''")}`,
      `  ${theme.comment("# c")}`,
    ]);
  });

  test("code in an unknown language stays unchanged", () => {
    expect(paint("```brainfog\n+++\n```\n").map(withoutColors)).toEqual(["  brainfog", "  +++"]);
  });
});

test("T22: prose keeps to lines that can be read where there is more room; tables and code take it", () => {
  const words = "word ".repeat(60);
  const widest = (text: string) => Math.max(...shown(text, 200).map(textWidth));
  expect(widest(`# ${words}\n\n${words}\n\n> ${words}`)).toBeLessThanOrEqual(122);
  expect(widest(words)).toBe(119);
  expect(widest(`| a | ${words}|\n|---|---|`)).toBe(200);
  expect(widest(`\`\`\`\n${words}\n\`\`\``)).toBe(302);
});

describe("B30: code blocks that change a file", () => {
  const draft = { index: 0, path: "src/a.ts", start: 9, end: 11, text: "" };

  test("grows as a change, and is one line when it is written: the change itself is shown when it is made", () => {
    const stream = new MarkdownStream();
    const lines: string[] = [];
    const push = (text: string) => {
      stream.push(text);
      lines.push(...stream.show(60, 10, look).finished.map(withoutColors));
    };
    push("Here:\n\n```ts:src/a.ts:9:11\n");
    stream.capture(draft);
    push("one\ntw");
    expect(stream.show(60, 10, look).open.map(withoutColors)).toEqual([
      "writing src/a.ts, lines 9 to 10, 2 lines so far",
      "  9 + one",
      " 10 + tw",
    ]);
    push("o\n```\n\n```\nplain\n```\n");
    expect(lines).toEqual(["Here:", "", "2 lines for src/a.ts, lines 9 to 10", "", "  plain"]);
  });

  test("a long draft shows its last lines, and keeps them when the answer breaks off", () => {
    const stream = new MarkdownStream();
    stream.capture(draft);
    stream.push(`\`\`\`ts:src/a.ts:9:11\n${Array.from({ length: 300 }, (_, index) => `line ${index}\n`).join("")}`);
    const { finished, open } = stream.show(20, 50, look);
    expect(finished).toEqual([]);
    expect(open.map(withoutColors)).toHaveLength(11);
    expect(open.map(withoutColors).slice(0, 2)).toEqual(["writing src/a.ts, l…", "299 + line 290"]);
    stream.end();
    expect(stream.show(20, 50, look)).toEqual({ finished: open, open: [] });
  });
});

describe("S12: a model's text", () => {
  const attack = "a \x1b[2J &#27;[2J &#x9b;2J \x1b]0;t\x07 [x](http://a\x1b]8;;http://b\x07) `\x1b[31m` ";

  test("brings no control sequences in, however they are written", () => {
    const stream = new MarkdownStream();
    stream.push(
      plainText(`${attack}\n\n| ${attack} |\n|---|\n| ${attack} |\n\n<b>${attack}</b>\n\n\`\`\`\n${attack}\n\`\`\`\n`),
    );
    stream.end();
    const text = stream.show(200, 10, { ...look, theme: createTheme(1, "dark"), links: true }).finished.join("\n");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
    expect(text.replaceAll(/\x1b\]8;;[!-~]*\x1b\\/g, "")).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
  });
});
