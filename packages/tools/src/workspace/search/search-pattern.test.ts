import { setFlagsFromString } from "node:v8";
import { expect, test } from "vitest";
import { searchTexts } from "./search-files.ts";
import { translate } from "./search-pattern.ts";

const TEXT = [
  "foo", // 1
  "a word, swords", // 2
  "  42 {x: 7}", // 3
  "Größe ($total) a|b", // 4
  "interface{} foo() string[]", // 5
  "\ttab\u00a0space", // 6
  "Aa.b* \\d", // 7
  "x=1; y=2", // 8
];
function linesWith(pattern: string, text: string): number[] {
  const lines: number[] = [];
  const found = ({ line }: { readonly line: number }) => lines.push(line) > 0;
  searchTexts({ pattern, texts: [{ address: "a", text }] }, { found, skipped() {} });
  return lines;
}

const UNDERSTOOD: readonly (readonly [pattern: string, ...lines: number[]])[] = [
  ["foo$", 1],
  ["^foo$", 1],
  ["7}$", 3],
  ["[[:digit:]]+", 3, 8],
  ["[[:upper:]][[:lower:]]", 4, 7],
  ["[^[:alnum:][:space:][:punct:]]"],
  ["\\<word\\>", 2],
  ["\\<word", 2],
  ["sword\\>"],
  ["\\bGröße\\b", 4],
  ["\\w+öße", 4],
  ["total|swords", 2, 4],
  ["a\\|b", 4],
  ["\\Afoo", 1],
  ["\\Aa word"],
  ["y=2\\z", 8],
  ["foo\\z"],
  ["\\Qa.b*\\E", 7],
  ["\\Q($total)\\E a", 4],
  ["\\x{41}\\x61", 7],
  ["\\u0041a", 7],
  ["^\\h*tab\\h", 6],
  ["^\\h+\\d", 3],
  ["foo\\Ra word", 1, 2],
  ["foo\\na", 1, 2],
  ["foo\\r?\\na", 1, 2],
  ["foo\n a?|swords\n", 2],
  ["a\\Kword"],
  ["a \\Kword", 2],
  ["(?s)interface.*tab", 5, 6],
  ["interface[\\s\\S]*tab", 5, 6],
  ["interface{}", 5],
  ["foo()", 1, 5],
  ["$total", 4],
  ["(?i)FOO|Y=", 1, 5, 8],
  ["f(?i)O+", 1, 5],
  ["(?x) f o # a comment\n o", 1, 5],
  ["(?P<l>[a-z])(?P=l)", 1, 5],
  ["(\\w)\\1", 1, 5],
  ["o++o"],
  ["\\p{Greek}|\\pN", 3, 8],
  ["[^]]x", 3],
  ["\\e|\\a|\\0|\\cA"],
  ["fo{2}(?!\\()", 1],
  ["\\/|\\-|\\;", 8],
];

test.each(["\n", "\r\n"])("F79, K6: patterns of other dialects match as meant, with %j at the ends of lines", (end) => {
  const text = TEXT.join(end) + end;
  expect(UNDERSTOOD.map(([pattern]) => [pattern, ...linesWith(pattern, text)])).toEqual(UNDERSTOOD);
});

const REFUSED: readonly (readonly [pattern: string, reason: string, form: string])[] = [
  ["(", "Unterminated group", "put \\ before"],
  ["a)", "Unmatched ')'", "put \\ before"],
  ["*.ts", "Nothing to repeat", "put \\ before"],
  ["[a", "Unterminated character class", "put \\ before"],
  ["[z-a]", "Range out of order", "put \\ before"],
  ["string[]", "[] is an empty class", "Write \\[\\]"],
  ["[:alpha:]+", "only inside of brackets", "Write [[:alpha:]]"],
  ["[[:letter:]]", "[:letter:] is no class", "There are alnum, alpha"],
  ["[[:constructor:]]", "[:constructor:] is no class", "There are alnum, alpha"],
  ["[a-z&&[^x]]", "cannot be intersected", "Write (?![aeiou])[a-z]"],
  ["a\\", "\\ at end of pattern", "put \\ before"],
  ["\\yfoo\\y", "\\y has no meaning", "Write \\b"],
  ["\\mfoo\\M", "\\m has no meaning", "Write \\<"],
  ["\\Gfoo", "\\G has no meaning", "Write ^"],
  ["\\X", "\\X has no meaning", "Write \\P{M}\\p{M}*"],
  ["\\ifoo", "\\i has no meaning", "Write i for the character"],
  ["\\p{Klingon}", "no property of Unicode", "Write \\p{L}"],
  ["\\x{110000}", "there is no character 110000", "put \\ before"],
  ["(a)\\2", "there is no group 2", "put \\ before"],
  ["\\k<n>(?<n>a)", 'there is no group "n" before', "put \\ before"],
  ["(?R)", "(?R... is not understood", "write the inner pattern out"],
  ["(?|a|b)", "(?|... is not understood", "Write (?:...)"],
  ["(?(1)a|b)", "(?(... is not understood", "Write (?:one|other) instead"],
  ["(*SKIP)a", "(*... is not understood", "Verbs such as (*SKIP)"],
  ["(?U)a", "the flag U is not known", "The flags are i, m, s and x"],
  ["(?-m)^a", "the flag -m is not known", "^ and $ match at each line anyway"],
  ["(?~a)", "Invalid group (?~a", "put \\ before"],
  ["(".repeat(300), "nested too deeply", "put \\ before"],
];

test.each(REFUSED)("F79: %j is refused with the form to use", (pattern, reason, form) => {
  expect(() => translate(pattern)).toThrow(reason);
  expect(() => translate(pattern)).toThrow(form);
});

test.each([
  "(?i)\\p{Lu} bar",
  "(?i)[[:upper:]] bar",
  "(?i)[[:lower:]]{3} bar",
  "(?is)o.[[:upper:]]AR",
  "x|(?i)[[:alpha:]] bar",
])("F79: %j finds letters of any case in a text with characters beyond Latin-1", (pattern) => {
  expect(linesWith(pattern, "foo BAR\nfoo BAR 日本\n")).toEqual([1, 2]);
});

test.each([
  ["(?i)^[^a-z]$|\\W\\Qfoo\\E", "é Foo"],
  ["[^a-z]$|(?i:\\Wfoo)", "é Foo"],
  ["(?i:[^a]foo)x|[^b]foo", "cfoo"],
  ["(?i:[[:upper:]]) b", "a b"],
  ["x(?i:straße|[k-l])Y", "xKY"],
  ["(?i:[^a-z])x", "éx"],
])("F79: %j finds %j in V8's plain code too, which long-lived programs get", (pattern, line) => {
  setFlagsFromString("--no-regexp-optimization");
  using _restored = { [Symbol.dispose]: () => setFlagsFromString("--regexp-optimization") };
  expect(linesWith(pattern, `${line}\n${line} 日本\n`)).toContain(1);
});

test.each([
  ["(?i:foo)x", "FOOX"],
  ["(?i:[^a-z])x", "Ax"],
  ["a(?i:b)c", "ABC"],
  ["(?i)a(?-i:b)c", "ABC"],
])("F79: %j does not find %j: case is ignored in one part only", (pattern, line) => {
  expect(linesWith(pattern, line)).toEqual([]);
});

test("F79: a reference within a part that ignores case is refused, and works if the whole pattern ignores case", () => {
  expect(() => translate("(?i:(a)\\1)b")).toThrow("Write (?i) at the beginning, where it applies to all parts.");
  expect(linesWith("(?i)(a)\\1b", "aAB")).toEqual([1]);
});
