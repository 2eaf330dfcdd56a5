import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { commandPromptText } from "./commands.ts";

const said = (text: string, args: string) =>
  commandPromptText({ name: "x", description: "", hint: undefined, model: undefined, text }, args);

describe("C17, K10: the arguments of a command", () => {
  test("prices and code stay unchanged, and arguments without a place come last", () => {
    const text = "It costs $1,000 or $25, $1.50 at least.\n\n```sh\nawk '{print $1}' list\n```";
    expect(said(text, "")).toBe(text);
    expect(said(text, "alpha beta")).toBe(`${text}\n\nalpha beta`);
  });

  test("$1 to $9 are words, and empty where there are fewer; $ARGUMENTS is all of them, also in code", () => {
    expect(said("$1, $2. $3!", 'a "b c"')).toBe("a, b c. !");
    expect(said("$2$1 $1st", "a b")).toBe("ba ast");
    expect(said("Run:\n```\nfix $ARGUMENTS # $1\n```", "12 now")).toBe("Run:\n```\nfix 12 now # $1\n```");
    expect(said("`$1`", "a")).toBe("`a`");
  });

  test("special characters in arguments are text in any command", () => {
    expect(said("$1|$ARGUMENTS", "$100 $& $1 $ARGUMENTS")).toBe("$100|$100 $& $1 $ARGUMENTS");
  });

  test.each([
    ["a longer fence", "````\n```\n$1\n```\n````"],
    ["tildes with backticks behind them", "~~~ `sh`\n$1\n```\n$1\n~~~~"],
    ["a fence in a list", "- first\n\n  ```sh\n  echo $1\n  ```"],
    ["a fence that begins an item", "1. ```sh\n   echo $1\n   ```"],
    ["a fence in a quote", "> ```\n> $1\n> ```"],
    ["a fence below a tag", "<example>\n```\n$1\n```\n</example>"],
    ["a fence that nothing closes", "```\n$1\n~~~\n$1"],
    ["line ends of Windows", "```sh\r\n$1\r\n```\r"],
  ])("%s keeps its characters, and the text after it takes arguments", (_, code) => {
    const isOpen = code.endsWith("$1");
    expect(said(`$1\n${code}`, "a")).toBe(`a\n${code}`);
    if (!isOpen) expect(said(`${code}\n$1`, "a")).toBe(`${code}\na`);
  });

  test("three backticks in a line of words, and a line with more of them, begin no block", () => {
    expect(said("Use ``` here\n$1", "a")).toBe("Use ``` here\na");
    expect(said("```sh``` is $1", "a")).toBe("```sh``` is a");
  });

  test("random texts: the command treats each piece by its kind", () => {
    const words = fc.array(fc.stringMatching(/^[a-z$&1-9.,`~]{1,6}$/), { maxLength: 11 });
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 8 }), words, (pieces, given) => {
        const args = given.join(" ");
        const text = pieces.map(({ written }) => written).join("");
        const expected = pieces.map(({ comes }) => comes(given, args)).join("");
        const isTaken = pieces.some(({ takes }) => takes);
        expect(said(text, args)).toBe(isTaken || args === "" ? expected : `${expected}\n\n${args}`);
      }),
      { numRuns: process.env.BANYAN_LONG === "1" ? 50_000 : 500 },
    );
  });
});

/** A piece of a text, whether it takes arguments, and its expected output. */
interface Piece {
  readonly written: string;
  readonly takes: boolean;
  comes(words: readonly string[], args: string): string;
}

const same = (written: string): Piece => ({ written, takes: false, comes: () => written });
const line = fc.constantFrom(
  "echo $1",
  "awk '{print $2, $1}'",
  "for i in $3; do :; done",
  "",
  "cost: $4.",
  "` `` ~ ~~",
);

const amount = fc
  .tuple(
    fc.constantFrom("$", "US$", "R$", "$$"),
    fc.integer({ min: 1, max: 9 }),
    fc.constantFrom("0", ",000", ".5", "9.99"),
  )
  .map(([sign, digit, rest]) => same(`${sign}${digit}${rest} `));
const word = fc.constantFrom("and ", "$ ", "$0 ", "$x ", "it is - ", "\n", "a\n> b\n", "\\$ ", "$ARGUMENT ").map(same);
const place = fc.tuple(fc.integer({ min: 1, max: 9 }), fc.constantFrom(" ", ".", ", ", "a ", "\n", "-", ") ")).map(
  ([which, behind]): Piece => ({
    written: `$${which}${behind}`,
    takes: true,
    comes: (words) => `${words[which - 1] ?? ""}${behind}`,
  }),
);
const whole = fc
  .constantFrom(" ", "\n", "s")
  .map((behind): Piece => ({ written: `$ARGUMENTS${behind}`, takes: true, comes: (_, args) => `${args}${behind}` }));
const block = fc
  .tuple(
    fc.constantFrom("`", "~"),
    fc.integer({ min: 3, max: 5 }),
    fc.integer({ min: 0, max: 2 }),
    fc.constantFrom("", "  ", "> ", "\t"),
    fc.array(line, { maxLength: 4 }),
    fc.boolean(),
  )
  .map(([sign, length, longer, indent, lines, all]): Piece => {
    const inside = [...lines, sign.repeat(length - 1), ...(all ? ["run $ARGUMENTS"] : [])];
    const code = [`${sign.repeat(length)}sh`, ...inside, sign.repeat(length + longer)];
    const written = `\n${code.map((each) => `${indent}${each}`).join("\n")}\n`;
    return { written, takes: all, comes: (_, args) => written.replace("$ARGUMENTS", () => args) };
  });
const piece = fc.oneof(amount, word, place, whole, block);
