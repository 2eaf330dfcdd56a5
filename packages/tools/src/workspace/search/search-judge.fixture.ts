import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { TestFolder } from "../test-folder.fixture.ts";

// Random trees and patterns. Each pattern is generated together with an equivalent JavaScript expression, and git
// decides which files are ignored. No code of the search is used here.

/** A pattern in some dialect, and its meaning. */
export interface JudgedPattern {
  readonly pattern: string;
  /** The equivalent JavaScript expression; undefined if there is none. */
  readonly meaning: string | undefined;
  /** True if the pattern matches line ends, and therefore the whole text. */
  readonly spans: boolean;
  readonly ignoresCase?: boolean;
}

/** A file of a tree. Its text has no byte-order mark, and `\n` between lines. */
export interface JudgedFile {
  readonly path: string;
  readonly text: string;
  readonly form: "lf" | "crlf" | "mark" | "mark-crlf" | "utf16le" | "utf16be" | "latin1" | "binary";
}

const LETTER = "[\\p{L}\\p{N}_]";
const BOUNDARY = `(?:(?<=${LETTER})(?!${LETTER})|(?<!${LETTER})(?=${LETTER}))`;

/** Placeholders in a meaning for the start and the end of a line. */
const [BEGIN, END] = ["\ue000", "\ue001"];

const WORDS = ["foo", "bar", "Foo", "BAR", "x1", "größe", "日本", "a-b", "(x)", "{y}", "42", "q|r", "*", "é", "end."];

const literal = fc
  .constantFrom(...WORDS)
  .chain((word) =>
    fc
      .constantFrom(
        word.replace(/[^\p{L}\p{N}]/gu, "\\$&"),
        `\\Q${word}\\E`,
        [...word].map((one) => `\\x{${one.codePointAt(0)?.toString(16)}}`).join(""),
      )
      .map((pattern) => part(pattern, RegExp.escape(word))),
  );

const sets: readonly (readonly [pattern: string, meaning: string])[] = [
  ["\\d", "[0-9]"],
  ["[[:digit:]]", "[0-9]"],
  ["\\w", LETTER],
  ["\\W", "[^\\p{L}\\p{N}_]"],
  ["[[:alpha:]]", "\\p{L}"],
  ["[^[:alpha:]]", "\\P{L}"],
  ["[[:^alpha:][:digit:]]", "[\\P{L}0-9]"],
  ["[[:upper:]]", "\\p{Lu}"],
  ["[[:lower:]_]", "[\\p{Ll}_]"],
  ["[[:punct:]]", "[!-\\/:-@\\[-`\\{-~]"],
  ["\\s", "\\s"],
  ["[[:space:]]", "\\s"],
  ["[[:blank:]]", "[ \\t]"],
  ["\\h", "[ \\t]"],
  [".", "[^\\n]"],
  ["\\N", "[^\\n]"],
  ["[a-z]", "[a-z]"],
  ["[^a-z]", "[^a-z]"],
  ["[^]x]", "[^\\]x]"],
  ["[\\w.-]", "[\\p{L}\\p{N}_.\\-]"],
  ["\\pL", "\\p{L}"],
  ["\\P{Lu}", "\\P{Lu}"],
  ["\\p{Han}", "\\p{Script=Han}"],
  ["\\u0066", "f"],
  ["\\146", "f"],
];

const acrossLines: readonly (readonly [pattern: string, meaning: string])[] = [
  ["\\n", "\\n"],
  ["\\R", "\\n"],
  ["\n", "\\n"],
  ["[\\n ]", "[\\n ]"],
  ["[\\s\\S]", "[^]"],
  ["(?s:.)", "[^]"],
  ["\\A", "(?<![^])"],
  ["\\z", "(?=\\n?(?![^]))"],
];

const assertions: readonly (readonly [pattern: string, meaning: string])[] = [
  ["\\b", BOUNDARY],
  ["\\<", `(?<!${LETTER})(?=${LETTER})`],
  ["\\>", `(?<=${LETTER})(?!${LETTER})`],
  ["\\b{start}", `(?<!${LETTER})(?=${LETTER})`],
  ["\\K", ""],
  ["(?#a note)", ""],
];

const REFUSED = ["[]", "\\yfoo", "(?R)", "[:alpha:]+", "[a-z&&[b]]", "\\Gfoo", "(foo", "*.ts"];

type Part = JudgedPattern;

function part(pattern: string, meaning: string | undefined, spans = false): Part {
  return { pattern, meaning, spans };
}

function joined(parts: readonly Part[], pattern: (sources: string[]) => string, meaning = pattern): Part {
  const meanings = parts.flatMap((one) => (one.meaning === undefined ? [] : [one.meaning]));
  const isKnown = meanings.length === parts.length;
  return part(
    pattern(parts.map((one) => one.pattern)),
    isKnown ? meaning(meanings) : undefined,
    parts.some(({ spans }) => spans),
  );
}

const set = fc.constantFrom(...sets).map(([pattern, meaning]) => part(pattern, meaning));

const quantified = fc
  .tuple(
    fc.oneof(
      set,
      literal.map((one) => joined([one], ([source]) => `(?:${source})`)),
    ),
    fc.constantFrom(
      ...([
        ["*", "*"],
        ["+", "+"],
        ["?", "?"],
        ["+?", "+?"],
        ["{2}", "{2}"],
        ["{1,3}", "{1,3}"],
        ["{,2}", "{0,2}"],
        ["++", undefined],
      ] as const),
    ),
  )
  .map(([one, [ours, theirs]]) =>
    part(one.pattern + ours, theirs === undefined || one.meaning === undefined ? undefined : one.meaning + theirs),
  );

const assertion = fc.constantFrom(...assertions).map(([pattern, meaning]) => part(pattern, meaning));
const crossing = fc.constantFrom(...acrossLines).map(([pattern, meaning]) => part(pattern, meaning, true));

const simple = fc.oneof(
  { weight: 6, arbitrary: literal },
  { weight: 4, arbitrary: set },
  { weight: 3, arbitrary: quantified },
  { weight: 2, arbitrary: assertion },
);

function sequenceOf(one: fc.Arbitrary<Part>): fc.Arbitrary<Part> {
  return fc
    .tuple(fc.boolean(), fc.array(one, { minLength: 1, maxLength: 4 }), fc.boolean())
    .map(([first, parts, last]) =>
      joined(
        parts,
        (sources) => `${first ? "^" : ""}${sources.join("")}${last ? "$" : ""}`,
        (sources) => `${first ? BEGIN : ""}${sources.join("")}${last ? END : ""}`,
      ),
    );
}

const choiceOf = (one: fc.Arbitrary<Part>) =>
  fc.array(sequenceOf(one), { minLength: 1, maxLength: 3 }).map((parts) => joined(parts, (all) => all.join("|")));

const group = fc
  .tuple(fc.constantFrom("(", "(?:", "(?i:", "(?=", "(?!", "(?<=", "(?<!"), choiceOf(simple))
  .map(([opening, inner]) =>
    joined(
      [inner],
      ([source]) => `${opening}${source})`,
      ([source = ""]) => (opening === "(?i:" ? `(?:${caseless(source)})` : `${opening}${source})`),
    ),
  );

/** Lists both cases of each letter in a meaning: V8 compiles some patterns with `(?i:...)` wrongly. */
function caseless(meaning: string): string {
  return meaning.replace(
    /\\x(..)|(\\p\{L[lu]\})|(\\P\{Lu\})|\\[pP]\{.*?\}|\\.|a-z|\p{L}/gsv,
    (token, code, set, other) => {
      if (set) return "[\\p{Lu}\\p{Ll}]";
      if (other) return "[^\\p{Lu}\\p{Ll}]";
      if (token === "a-z") return "[a-zA-Z]";
      const letter = code ? String.fromCodePoint(Number.parseInt(code, 16)) : token;
      return /^\p{L}$/v.test(letter) ? `[${letter.toLowerCase()}${letter.toUpperCase().slice(0, 1)}]` : token;
    },
  );
}

const repeated = literal.map((word) =>
  joined(
    [word],
    ([source]) => `(?P<n>${source})\\s?(?P=n)`,
    ([source]) => `(?<n>${source})\\s?\\k<n>`,
  ),
);

const withCrossing = fc.oneof({ weight: 5, arbitrary: simple }, { weight: 1, arbitrary: crossing });

/** Patterns of several dialects. About one of 45 is invalid. */
export const patterns: fc.Arbitrary<JudgedPattern> = fc.oneof(
  { weight: 16, arbitrary: sequenceOf(simple) },
  { weight: 10, arbitrary: sequenceOf(fc.oneof({ weight: 3, arbitrary: simple }, { weight: 1, arbitrary: group })) },
  { weight: 8, arbitrary: choiceOf(withCrossing) },
  { weight: 4, arbitrary: repeated },
  {
    weight: 2,
    arbitrary: choiceOf(simple).map((one) => ({ ...one, pattern: `(?i)${one.pattern}`, ignoresCase: true })),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(literal, literal).map((two) =>
      joined(
        two,
        (all) => `(?x) ${all.join(" # note\n ")}`,
        (all) => all.join(""),
      ),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(literal, literal).map((two) => ({
      ...joined(
        two,
        (all) => all.join("\\r?\\n"),
        (all) => all.join("\\n"),
      ),
      spans: true,
    })),
  },
  { weight: 1, arbitrary: fc.constantFrom(...REFUSED).map((pattern) => part(pattern, undefined)) },
);

const line = fc
  .tuple(
    fc.array(fc.constantFrom(...WORDS, "", "\tz"), { maxLength: 5 }).map((words) => words.join(" ")),
    fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 60, 900),
    fc.constantFrom(0, 60),
  )
  .map(
    ([words, before, behind]) => "lorem ipsum ".repeat(before) + words + (before > 0 ? " dolor".repeat(behind) : ""),
  );

/** Texts of a few lines, some of them long. */
export const texts = fc
  .tuple(fc.array(line, { maxLength: 8 }), fc.boolean())
  .map(([lines, isClosed]) => lines.join("\n") + (isClosed && lines.length > 0 ? "\n" : ""));

const file: fc.Arbitrary<JudgedFile> = fc.record({
  path: fc
    .tuple(
      fc.constantFrom("", "src/", "dist/", "src/gen/", ".hidden/", "src/dist/"),
      fc.constantFrom("a.txt", "b.log", "c.md", "d.ts"),
    )
    .map((names) => names.join("")),
  text: texts,
  form: fc.constantFrom("lf", "lf", "crlf", "crlf", "mark", "mark-crlf", "utf16le", "utf16be", "latin1", "binary"),
});

const rules = fc
  .array(fc.constantFrom("dist/", "dist/*", "!dist/d.ts", "*.log", "!b.log", "src/gen", "/c.md", "gen/**", ".hidden"), {
    maxLength: 3,
  })
  .map((lines) => lines.join("\n"));

/** The files of a tree, including ignore files. */
export const trees: fc.Arbitrary<readonly JudgedFile[]> = fc
  .tuple(fc.uniqueArray(file, { minLength: 3, maxLength: 9, selector: ({ path }) => path }), rules, rules)
  .map(([files, outer, inner]) => [
    ...files,
    { path: ".gitignore", text: outer, form: "lf" },
    { path: "src/.gitignore", text: inner, form: "lf" },
  ]);

/** Writes a tree. The caller disposes of the folder. */
export function plant(files: readonly JudgedFile[]): TestFolder {
  const folder = new TestFolder();
  execFileSync("git", ["init", "-q"], { cwd: folder.root });
  for (const one of files) folder.add(one.path, bytesOf(one));
  return folder;
}

function bytesOf({ text, form }: JudgedFile): Buffer {
  const crlf = text.replaceAll("\n", "\r\n");
  switch (form) {
    case "lf":
      return Buffer.from(text);
    case "crlf":
      return Buffer.from(crlf);
    case "mark":
      return Buffer.from(`\ufeff${text}`);
    case "mark-crlf":
      return Buffer.from(`\ufeff${crlf}`);
    case "utf16le":
      return Buffer.from(`\ufeff${crlf}`, "utf16le");
    case "utf16be":
      return Buffer.from(`\ufeff${text}`, "utf16le").swap16();
    case "latin1":
      // Latin-1 has no Han characters.
      return Buffer.from(text, /\p{Script=Han}/u.test(text) ? "utf8" : "latin1");
    case "binary":
      return Buffer.from(`\0${text}`);
  }
}

/** Returns the files of a folder that git does not ignore. */
export function notIgnored(folder: TestFolder): ReadonlySet<string> {
  const listed = execFileSync("git", ["ls-files", "-z", "--others", "--exclude-standard"], { cwd: folder.root });
  return new Set(listed.toString().split("\0").filter(Boolean));
}

/** Returns the line numbers that a pattern matches in JavaScript; undefined if the pattern has no JavaScript form. */
export function judgedLines(
  { meaning, spans, ignoresCase }: JudgedPattern,
  text: string,
): readonly number[] | undefined {
  if (meaning === undefined) return undefined;
  const flags = ignoresCase ? "iv" : "v";
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  if (!spans) {
    const expression = new RegExp(meaning.replaceAll(BEGIN, "^").replaceAll(END, "$"), flags);
    return lines.flatMap((one, index) => (expression.test(one) ? [index + 1] : []));
  }
  const found = new Set<number>();
  // After the last line end, no line begins or ends.
  const source = meaning.replaceAll(BEGIN, "^(?=[^])").replaceAll(END, "$(?<!\\n(?![^]))");
  for (const match of text.matchAll(new RegExp(source, `gm${flags}`))) {
    const before = text.slice(0, match.index).split("\n").length;
    const covered = match[0].replace(/\n$/, "").split("\n").length;
    for (let nth = 0; nth < covered; nth += 1) if (before + nth <= lines.length) found.add(before + nth);
  }
  return [...found].toSorted((one, other) => one - other);
}
