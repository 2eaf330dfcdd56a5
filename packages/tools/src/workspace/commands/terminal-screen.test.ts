import xterm from "@xterm/headless";
import { describe, expect, test } from "vitest";
import { TerminalScreen } from "./terminal-screen.ts";

const LONG = process.env.BANYAN_LONG === "1";

/** Returns the rendered text of an output in pieces of this length. */
function shown(output: string, piece = output.length): string {
  const screen = new TerminalScreen();
  let text = "";
  const characters = [...output];
  for (let at = 0; at < characters.length; at += piece) text += screen.push(characters.slice(at, at + piece).join(""));
  return text + screen.take();
}

test.each([
  ["a carriage return", "10 %\r55 %\r100 %\n", "100 %\n"],
  ["a shorter line over a longer one", "downloading a\rdone\n", "doneloading a\n"],
  ["blanks over a line", "10 %\r     \rdone\n", "done\n"],
  ["an erased line", "downloading\r\x1b[Kdone\n", "done\n"],
  ["an erased line and a column", "downloading\x1b[2K\x1b[1Gdone\n", "done\n"],
  ["lines of Windows", "a\r\nb\r\n", "a\nb\n"],
  ["two bars", "a 1\nb 1\n\x1b[2Aa 2\x1b[K\nb 2\x1b[K\n", "a 2\nb 2\n"],
  ["the cursor that goes back by lines", "a\nb\nc\n\x1b[3F\x1b[Jd\n", "d\n"],
  ["backspaces", "1%\b\b2%\b\b3%\n", "3%\n"],
  ["letters struck twice", "N\bNA\bAM\bME\bE\n", "NAME\n"],
  ["a saved cursor", "\x1b[s1\x1b[u2\x1b[u3\n", "3\n"],
  ["colours and titles", "\x1b[31mred\x1b[0m\x1b]0;t\x07 x\n", "red x\n"],
  ["a cleared screen", "old\nold\n\x1b[2J\x1b[Hnew\n", "new\n"],
  ["tabs and blanks at line ends", "a\tb  \n\tc\n", "a\tb  \n\tc\n"],
  ["a tab that is written over", "a\tb\rxy\n", "xy      b\n"],
  ["a wide character that is written over", "日本 10 %\rabc\n", "abc  10 %\n"],
  ["half of a wide character", "日本語\r\x1b[1Cab\n", " ab 語\n"],
  ["a wide character over a narrow one", "abc\r日\n", "日c\n"],
  ["an erased half of a wide character", "日本\r\x1b[3C\x1b[K!\n", "日 !\n"],
  ["emoji that are written over", "👍 10 %\rdone \n", "done  %\n"],
  ["a letter with an accent of its own", "cafe\u0301 1\rtea\n", "teae\u0301 1\n"],
  ["columns behind wide characters and tabs", "日\tx\b\by\n", "日     yx\n"],
  ["no last line end", "10 %\r55 %", "55 %"],
  ["what belongs to nothing", "\x1b[5Aup\x1b[9Dleft\x07\x00\n", "left\n"],
])("F82, K19: %s is shown as on a terminal", (_, output, expected) => {
  expect(shown(output)).toBe(expected);
  expect(shown(output, 1)).toBe(expected);
});

test("F82: delivered text stays, and text that overwrites it gets a line of its own", () => {
  const screen = new TerminalScreen();
  const steps = [
    ["10 %", "10 %"],
    ["\r20 %", "\n20 %"],
    ["!", "!"],
    ["\r\n", "\n"],
    ["a\nb\n", "a\nb\n"],
    ["\x1b[1Ac\n", "c\n"],
    ["one ", "one "],
    ["two", "two"],
    ["\r", ""],
    ["\x1b[Kthree", "\nthree"],
    ["\n", "\n"],
  ] as const;
  for (const [output, expected] of steps)
    expect(screen.push(output) + screen.take(), JSON.stringify(output)).toBe(expected);
});

test("F82: 100 MB of progress, or of a line without an end, need little memory and take seconds", () => {
  const screen = new TerminalScreen();
  const step = Array.from({ length: 2000 }, (_, index) => `\r[${"#".repeat(index % 40)}] ${index} of 2000`).join("");
  const size = LONG ? 100_000_000 : 10_000_000;
  let returned = 0;
  for (let written = 0; written < size; written += step.length) returned += screen.push(step).length;
  expect(returned).toBe(0);
  expect(screen.take()).toBe("[#######################################] 1999 of 2000");
  let line = 0;
  for (let written = 0; written < size; written += 64_000) line += screen.push("x".repeat(64_000)).length;
  expect(size - line).toBeLessThan(200_000);
}, 60_000);

test("F82: all lines of a long log appear once and in order, whatever was moved before", () => {
  const lines = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => `line ${from + index}\n`).join("");
  expect(shown(`old\rnew ${lines(1, 3000)}`)).toBe(`new ${lines(1, 3000)}`);
  expect(shown(`${lines(0, 40)}\x1b[3A\x1b[J${lines(1, 60)}`)).toBe(`${lines(0, 37)}${lines(1, 60)}`);
  expect(shown(`${lines(0, 500)}\x1b[50A\x1b[Jend\n`)).toBe(`${lines(0, 451)}end\n`);
  const screen = new TerminalScreen();
  expect(screen.push("10 %") + screen.take() + screen.push(`\r20 %\n${lines(0, 200)}`) + screen.take()).toBe(
    `10 %\n20 %\n${lines(0, 200)}`,
  );
});

function* numbers(seed: number): Generator<number, never> {
  for (let state = seed >>> 0; ; ) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state / 2 ** 32;
  }
}

/** Renders an output in another project's terminal: scrollback and screen. */
async function onXterm(output: string): Promise<string> {
  const terminal = new xterm.Terminal({
    cols: 500,
    rows: 50,
    scrollback: 100_000,
    convertEol: true,
    allowProposedApi: true,
  });
  await new Promise<void>((resolve) => terminal.write(output, resolve));
  const { active } = terminal.buffer;
  const lines = Array.from(
    { length: active.length },
    (_, row) => active.getLine(row)?.translateToString().trimEnd() ?? "",
  );
  terminal.dispose();
  return lines.join("\n").trimEnd();
}

describe("F82: random output", () => {
  test("equals the screen of another terminal, wherever the output is cut", async () => {
    for (let seed = 1; seed <= (LONG ? 2000 : 100); seed += 1) {
      const random = numbers(seed * 7919);
      const below = (most: number) => Math.floor(random.next().value * most);
      // 3J would clear the scrollback, which is kept here.
      const moves = () => `\x1b[${below(3) === 0 ? "" : below(3)}${"ABCDEFGKJ"[below(9)]}`;
      const pieces = [
        () => "abcdefgh".slice(below(8)),
        () => `${below(1000)} %`,
        () => "\n".repeat(1 + below(3)),
        () => "\r",
        () => "\b".repeat(1 + below(3)),
        moves,
        moves,
        () => `\x1b[${1 + below(12)};${1 + below(12)}H`,
        () => ["\x1b[2J", "\x1b[1K", "\x1b[2K", "\x1b[1J", "\x1b[32m"][below(5)] as string,
        () => "line\n".repeat(below(30)),
        () => "é─█日本"[below(5)] as string,
        () => "cafe\u0301 日",
      ];
      const output = Array.from({ length: 5 + below(60) }, () => pieces[below(pieces.length)]?.()).join("");
      const expected = await onXterm(output);
      for (const piece of [output.length, 1 + below(7)]) {
        const text = shown(output, piece)
          .split("\n")
          .map((line) => line.trimEnd())
          .join("\n")
          .trimEnd();
        expect(text, JSON.stringify({ seed, output })).toBe(expected);
      }
    }
  });
});
