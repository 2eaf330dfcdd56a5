import { describe, expect, it } from "vitest";
import { formulaIn, formulasAsCode } from "./math.ts";

/** The number of generated texts. */
const MANY = process.env.BANYAN_LONG ? 20_000 : 1_000;

/** Pseudo-random numbers from 0 up to 1. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Picks an element of a list. */
type Pick = <T>(list: readonly T[]) => T;

function picker(seed: number): Pick {
  const next = random(seed);
  return (list) => list[Math.floor(next() * list.length)] as (typeof list)[number];
}

/** The notation of amounts in ten currencies, before and after the number. */
const CURRENCIES: readonly (readonly [before: string, behind: string])[] = [
  ["$", ""],
  ["US$", ""],
  ["A$", ""],
  ["HK$", ""],
  ["R$ ", ""],
  ["$", " MXN"],
  ["", " $"],
  ["", "$"],
  ["€", ""],
  ["CHF ", ""],
];

const NUMBERS = ["5", "10", "0.99", "1,299.00", "1.299,00", "2 000", "3k", "2.5M", "7bn", "99", "20", "1_000"];
const BETWEEN = [" and ", " or ", "-", "–", " to ", "/", ", ", " vs. ", " (was ", "; ", "\u2013", " + ", " = "];
const UNITS = ["", "", "/month", " per seat", "/h", "+", " each", "*", ")"];

function prices(pick: Pick): string {
  const amount = () => {
    const [before, behind] = pick(CURRENCIES);
    return `${before}${pick(NUMBERS)}${behind}${pick(UNITS)}`;
  };
  return [`${pick(["It costs ", "", "Between ", "(", "**Price:** ", "- "])}${amount()}`, amount(), amount()]
    .map((each, index) => (index === 0 ? each : pick(BETWEEN) + each))
    .join("");
}

/** TeX as models write it, nested to a depth. */
function tex(pick: Pick, depth = 2): string {
  const part = () => (depth === 0 ? pick(["x", "y_1", "n", "2", "\\alpha", "a_{ij}"]) : tex(pick, depth - 1));
  return pick<() => string>([
    () => `\\frac{${part()}}{${part()}}`,
    () => `\\sqrt{${part()}} ${pick(["+", "-", "\\cdot", "\\le", "="])} ${part()}`,
    () => `\\sum_{i=1}^{n} ${part()}`,
    () => `\\int_0^1 ${part()} \\, dx`,
    () => `x^2 + ${part()}`,
    () => `\\mathbb{R}^n \\to ${part()}`,
    () => `\\text{speed of ${pick(["sound", "the car"])}} = ${part()}`,
    () => `\\begin{pmatrix} ${part()} & ${part()} \\\\ 0 & 1 \\end{pmatrix}`,
  ])();
}

const found = (text: string) =>
  [...formulasAsCode(text).matchAll(/(?<fence>`+) (?<code>\uE0F1[\s\S]*?) \k<fence>/g)].map(
    ({ groups }) => formulaIn(groups?.code ?? "")?.tex,
  );

describe("dollars of formulas", () => {
  it("W93, K7: prices in ten currencies are never formulas, in any arrangement", () => {
    const pick = picker(1);
    for (let each = 0; each < MANY; each++) {
      const text = prices(pick);
      expect(formulasAsCode(text), text).toBe(text);
    }
  });

  it("W93: TeX is a formula in all four ways of writing it, also among prices", () => {
    const pick = picker(2);
    for (let each = 0; each < MANY; each++) {
      const formula = tex(pick);
      for (const [open, close] of [
        ["$", "$"],
        ["\\(", "\\)"],
        ["$$", "$$"],
        ["\\[", "\\]"],
      ]) {
        expect(found(`So ${open}${formula}${close} it is, for $5 or 10 $.`), formula).toEqual([formula]);
      }
    }
  });

  it.each([
    "x",
    "n!",
    "2k+1",
    "F = ma",
    "y = mx + b",
    "PV = nRT",
    "f(x)",
    "f'(x) = 2x",
    "a, b, c",
    "[0, n)",
    "-1 < x < 1",
    "|x|",
    "x ∈ A",
    "α + β",
    "sin(x) + cos(x)",
    "O(n log n)",
    "E = mc^2",
    "x_i",
    "T_max",
    "{}^{14}C",
    "10^{-3}",
    "\\int_0^1 f(x) dx",
    "b^2 - 4ac",
    "H_2O",
    "5\\,\\text{km}",
    "90^\\circ",
    "3 \\times 4",
  ])("W93: $%s$ is a formula", (formula) => {
    expect(found(`Let $${formula}$ be.`)).toEqual([formula]);
  });

  it.each([
    "I paid $5, and 6$ more",
    "from 10 $/day, or 5$/night",
    "set $HOME and $PATH",
    "$" + "{HOME_A}/x:$" + "{PATH}",
    "$" + "{HOME_A}/x$",
    "$snake_case and other$",
    "the variable $SNAKE_CASE$",
    "$5 for C:\\temp or 6$",
    "cheap ($), fair ($$), dear ($$$)",
    "$$ = cheap, $$$ = dear",
    "\\(see below\\) and \\[a link\\]",
    "- \\[x\\] done, \\[ \\] to do",
    "\\[1\\] and \\(2\\)",
    "$the words$ of a song",
    "20$ (twenty), 30$",
    "$5M-6M$ a year",
  ])("W93: %s has no formula", (text) => {
    expect(formulasAsCode(text)).toBe(text);
  });
});
