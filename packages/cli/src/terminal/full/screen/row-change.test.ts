import xterm from "@xterm/headless";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LiveRegion } from "./live-region.ts";
import { NARROW_IN_THE_WEST, rowChange } from "./row-change.ts";

const CELLS = { columns: 20, narrow: NARROW_IN_THE_WEST };

describe("V11: the change of a row", () => {
  test("writes only what differs", () => {
    expect(rowChange("one two", "one two", CELLS)).toBeUndefined();
    expect(rowChange("one two", "one two three", CELLS)).toMatchObject({ column: 7, bytes: " three" });
    expect(rowChange("one two three", "one six three", CELLS)).toMatchObject({ column: 4, bytes: "six" });
    expect(rowChange("one two", "one", CELLS)).toMatchObject({ column: 3, bytes: "\x1b[K" });
  });

  test("writes each colour once, and different colours of the same text", () => {
    const line = "\x1b[1ma\x1b[22m\x1b[1mb\x1b[22m c";
    expect(rowChange("", line, CELLS)?.bytes).toBe("\x1b[1mab \x1b[mc");
    expect(rowChange("ab c", line, CELLS)).toMatchObject({ column: 0, bytes: "\x1b[1mab\x1b[m" });
  });

  test.each(["漢字", "👍🏽", "\u0301", "\u200b"])(
    "begins before %j, which may have another width elsewhere",
    (text) => {
      expect(rowChange(`ab${text} c`, `ab${text} d`, CELLS)?.column).toBe(1);
    },
  );
});

type Terminal = InstanceType<typeof xterm.Terminal>;

function terminal([columns, rows]: readonly [number, number]): Terminal {
  return new xterm.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true });
}

function write(to: Terminal, bytes: string): Promise<void> {
  return new Promise((done) => to.write(bytes, done));
}

/** All cells with their colours, and the cursor. */
function shown({ buffer: { active }, cols, rows }: Terminal): string[] {
  const lines = Array.from({ length: active.length }, (_, row) => {
    let text = "";
    for (let column = 0; column < cols; column++) {
      const cell = active.getLine(row)?.getCell(column);
      const character = cell?.getChars() || (cell?.getWidth() === 0 ? "" : " ");
      const look = [
        cell?.isInverse(),
        cell?.isUnderline(),
        cell?.getBgColor(),
        ...(character === " " ? [] : [cell?.isBold(), cell?.isDim(), cell?.isItalic(), cell?.getFgColor()]),
      ];
      text += `${character}<${look.map(Number).join()}>`;
    }
    return text;
  });
  const empty = " <0,0,-1>".repeat(cols);
  while (lines.at(-1) === empty && lines.length > rows) lines.pop();
  return [...lines, `${active.baseY + active.cursorY},${active.cursorX}`];
}

const words = fc.constantFrom(
  "a",
  "one ",
  "two",
  " ",
  "é",
  "•",
  "─",
  "漢",
  "字",
  "e\u0301",
  "👍",
  "❤️",
  "⠋",
  "long word ",
);
const styled = fc
  .tuple(fc.constantFrom("", "1", "2", "7", "4", "38;5;75", "38;2;1;2;3", "44", "1;31"), words)
  .map(([style, text]) => (style === "" ? text : `\x1b[${style}m${text}\x1b[0m`));
const line = fc.oneof(
  { weight: 5, arbitrary: fc.array(styled, { maxLength: 9 }).map((parts) => parts.join("")) },
  fc.constant("\x1b]8;;https://a.test\x1b\\link\x1b]8;;\x1b\\"),
);
/** The next lines of the region, as a change of the former ones. */
const change = fc.record({
  finish: fc.nat(3),
  more: fc.array(line, { maxLength: 2 }),
  insertAt: fc.nat(5),
  insert: fc.array(line, { maxLength: 2 }),
  remove: fc.nat(2),
  append: fc.option(fc.tuple(fc.nat(5), styled), { nil: undefined }),
  cursor: fc.option(fc.record({ row: fc.nat(3), column: fc.nat(9) }), { nil: undefined }),
  waitsAtTop: fc.boolean(),
  size: fc.option(fc.constantFrom([20, 8], [33, 12], [16, 6]), { nil: undefined, freq: 12 }),
});

test.each([
  ["at once", false],
  ["late", true],
] as const)(
  "V11: after each frame the screen is as if all were drawn anew, with sizes reported %s",
  async (_, late) => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 12 }), fc.boolean(), async (changes, isNarrow) => {
        let size = { columns: 24, rows: 9 };
        const [changed, anew] = [terminal([24, 9]), terminal([24, 9])];
        const region = new LiveRegion({ isNarrow, reportsSizeLate: late });
        const other = new LiveRegion({ reportsSizeLate: true });
        let lines: string[] = [];
        for (const { finish, more, insertAt, insert, remove, append, cursor, waitsAtTop, size: next } of changes) {
          const finished = [...lines.slice(0, finish), ...more];
          lines = lines.slice(finish);
          lines.splice(insertAt, remove, ...insert);
          if (append && lines.length > 0) lines[append[0] % lines.length] += append[1];
          lines = lines.slice(0, 7);
          const frame = {
            finished,
            lines,
            cursor: lines[cursor?.row ?? 0] === undefined ? undefined : cursor,
            waitsAtTop,
          };
          if (next) {
            // A resize moves what is on the screen in ways of its own, so both regions begin anew.
            await Promise.all([write(changed, region.erase(size)), write(anew, other.erase(size))]);
            size = { columns: next[0] ?? 0, rows: next[1] ?? 0 };
            for (const one of [changed, anew]) one.resize(size.columns, size.rows);
          }
          const bytes = other.erase(size);
          await Promise.all([write(changed, region.draw(frame, size)), write(anew, bytes + other.draw(frame, size))]);
          expect(shown(changed)).toEqual(shown(anew));
        }
      }),
      { numRuns: 60 },
    );
  },
  30_000,
);
