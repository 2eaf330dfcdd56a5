import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isRootFolder, referencedPath, referencesIn, referenceTo, slashIn } from "./references.ts";

describe("B46: what a message names", () => {
  test.each<[string, string[]]>([
    ["Read @a.txt, please.", ["a.txt"]],
    ["@a.txt", ["a.txt"]],
    ["Compare @src/one.ts with @src/two.ts.", ["src/one.ts", "src/two.ts"]],
    ['See @"with blank.txt"!', ["with blank.txt"]],
    ["See @with\\ blank.txt, and @a\\'b\\(1\\).txt.", ["with blank.txt", "a'b(1).txt"]],
    ["See @src\\a.ts and @src\\", ["src\\a.ts", "src\\"]],
    ['See @"a\\nb.txt" and @"say \\"hi\\".txt"', ['"a\\nb.txt"', '"say \\"hi\\".txt"']],
    ["(@src/) and @**/*.ts", ["src/", "**/*.ts"]],
    ["@https://a.example/x?y=1.", ["https://a.example/x?y=1"]],
    ["Mail me@a.example or @@twice", []],
    ["main, a.txt and https://a.example stay words", []],
    ["use @scope/package@1.2.3", ["scope/package@1.2.3"]],
  ])("%s", (text, names) => {
    expect(referencesIn(text).map(({ name }) => name)).toEqual(names);
  });
});

describe("F82: how a message names a path", () => {
  test.each([
    ["src/a.ts", "@src/a.ts"],
    ["two words.txt", '@"two words.txt"'],
    ["it's.txt", `@"it's.txt"`],
    ['say "hi".txt', '@"say \\"hi\\".txt"'],
    ["line\nend.txt", '@"line\\nend.txt"'],
    ["end.", '@"end."'],
    ["-a.txt", "@-a.txt"],
    ["@scope/a", '@"@scope/a"'],
  ])("%j is %s", (path, text) => {
    expect(referenceTo(path)).toBe(text);
  });

  test("any path is read back, wherever it stands in a sentence", () => {
    const piece = fc.constantFrom(
      "a",
      "/",
      ".",
      " ",
      "\u00a0",
      '"',
      "'",
      "\\",
      "\n",
      "\t",
      "@",
      "(",
      "]",
      "!",
      "é",
      "👍",
      "ש",
      "-",
      "#",
    );
    fc.assert(
      fc.property(
        fc.array(piece, { minLength: 1, maxLength: 8 }).map((pieces) => pieces.join("")),
        (path) => {
          const [only, ...more] = referencesIn(`see ${referenceTo(path)} now`);
          expect(only && referencedPath(only.name)).toBe(path);
          expect(more).toEqual([]);
        },
      ),
    );
  });
});

describe("C18: the command that a message asks for", () => {
  test.each([
    ["/fix", "fix", ""],
    ["/fix 12 now ", "fix", "12 now"],
    ["/Fix\n\tline one\n\nline two\n", "Fix", "line one\n\nline two"],
    ["/git:commit -a", "git:commit", "-a"],
    ["/trees:big_]0;x/y.z an oak", "trees:big_]0;x/y.z", "an oak"],
    ["/größe 2", "größe", "2"],
    ["/definitely-not:there", "definitely-not:there", ""],
    ["/", "", ""],
  ])("%j is /%s", (text, name, argument) => {
    expect(slashIn(text)).toEqual({ name, argument });
  });

  test.each([
    "/usr/bin/env is missing",
    "/etc/hosts",
    "/home/me/my\\ files",
    "//",
    "// a comment",
    "/* a comment */",
    "/**",
    "/ or \\?",
    "/notes.md is empty",
    "/^a.*b$/ fits nothing",
    "/?",
    " /fix",
    "\n/fix",
    "a /fix",
    "/fix, please",
    "</fix>",
    "",
  ])("%j is words", (text) => {
    expect(slashIn(text)).toBeUndefined();
  });

  test("a folder at the root of a machine is no slip in a command's name", () => {
    expect(["tmp", "etc", "usr", "Users"].filter(isRootFolder)).toEqual(["tmp", "etc", "usr", "Users"]);
    expect(["fix", "tmpp", "users", "", "tmp/x"].filter(isRootFolder)).toEqual([]);
  });

  test("random lines: a name takes all that is behind the first blank, and a path takes nothing", () => {
    const name = fc.stringMatching(/^[\p{L}\p{N}_-]{1,12}(:[^\s]{0,8})?$/u);
    const words = fc
      .string({ unit: fc.constantFrom("a", "/", " ", "\n", "$", "ß", '"', ":") })
      .map((text) => text.trim());
    fc.assert(
      fc.property(name, words, (name, argument) => {
        expect(slashIn(`/${name} ${argument}`)).toEqual({ name, argument });
        expect(slashIn(` /${name} ${argument}`)).toBeUndefined();
        expect(slashIn(`/${name.replaceAll(":", "")}/${argument}`)).toBeUndefined();
      }),
    );
  });
});
