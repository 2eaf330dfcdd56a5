import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

interface Declaration {
  readonly name: string;
  readonly file: string;
  readonly isExported: boolean;
}

const TYPES =
  /^\s*(export )?(?:declare |abstract )*(?:(?:interface|class|enum) ([A-Z]\w*)|type ([A-Z]\w*)(?=\s*[<=]))/gm;

const FUNCTIONS = /^(export )?(?:async )?function\*? (\w+)/gm;

/** Participles that are nouns of the field. */
const NOUNS = ["Encoding", "Finding", "Listing"];
const IRREGULAR =
  /^(Begun|Broken|Brought|Chosen|Come|Done|Drawn|Found|Given|Gone|Heard|Held|Hidden|Kept|Known|Left|Lost|Made|Meant|Read|Said|Seen|Sent|Shown|Spent|Spoken|Taken|Thought|Told|Written)$/;

/** Nouns and verbs of the field, and an entry of a package. */
const FILE_NAMES = ["bring", "embedding", "listing", "read", "serving", "setting", "spending"];

const files = new Map(
  globSync("packages/*/src/**/*.{ts,tsx}", { cwd: root })
    .filter((path) => !/\.(test|fixture)\.tsx?$|\/testing\//.test(path))
    .map((path) => [path, readFileSync(root + path, "utf8")]),
);

/** A name counts once for each file. */
function declared(pattern: RegExp, sources: ReadonlyMap<string, string>): Declaration[] {
  return [...sources].flatMap(([file, source]) => {
    const found = [...source.matchAll(pattern)].map(([, exported, first, second]) => ({
      name: first ?? second ?? "",
      file,
      isExported: exported !== undefined,
    }));
    return found.filter(({ name }, at) => found.findIndex((other) => other.name === name) === at);
  });
}

/** Names with several declarations, each with its files: those that a file exports, or those that no file exports. */
function namedTwice(declarations: readonly Declaration[], areExported: boolean): string[] {
  return [...Map.groupBy(declarations, ({ name }) => name)].flatMap(([name, all]) =>
    all.length > 1 && all.some(({ isExported }) => isExported) === areExported
      ? [`${name}: ${all.map(({ file }) => file)}`]
      : [],
  );
}

function participles(declarations: readonly Declaration[]): string[] {
  return declarations
    .filter(({ name }) => /^[A-Z][a-z]+(ed|ing)$/.test(name) || IRREGULAR.test(name))
    .filter(({ name }) => !NOUNS.includes(name))
    .map(({ name, file }) => `${name}: ${file}`);
}

/** The files that are named by a participle alone, which does not tell what the file exports. */
function participleFiles(paths: Iterable<string>): string[] {
  return [...paths].filter((path) => {
    const [, name = ""] = /([^/\\]+)\.tsx?$/.exec(path) ?? [];
    const isBare =
      /^(un)?[a-z]{2,}(?<!fe)(?:ed|ing)$/.test(name) || IRREGULAR.test(capitalized(name.replace(/^un/, "")));
    return isBare && !FILE_NAMES.includes(name);
  });
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

test("H28: no file is named by a participle alone", () => {
  expect(participleFiles(files.keys())).toEqual([]);
  const paths = [
    "a/told.ts",
    "a/unsent.ts",
    "a/following.tsx",
    "a/granted.ts",
    "a/feed.ts",
    "a/turn-kept.ts",
    "a/listing.ts",
  ];
  expect(participleFiles(paths)).toEqual(["a/told.ts", "a/unsent.ts", "a/following.tsx", "a/granted.ts"]);
});

test("H11: no name of an exported type stands for two things, and few inner names do", () => {
  const types = declared(TYPES, files);
  expect(types.length).toBeGreaterThan(1_000);
  expect(namedTwice(types, true)).toEqual([]);
  expect(namedTwice(types, false).length).toBeLessThan(20);
});

test("H11: no type is named by a participle alone", () => {
  expect(participles(declared(TYPES, files))).toEqual([]);
});

test("H11: no name of an exported function stands for two things", () => {
  const functions = declared(FUNCTIONS, files);
  expect(functions.length).toBeGreaterThan(2_000);
  expect(namedTwice(functions, true)).toEqual([]);
});

test("H11: a name that two files have, and a participle, are found", () => {
  const sources = new Map([
    ["a/one.ts", "export interface Place {}\ntype Waiting = string;\nimport {\n  type Other,\n} from 'x';\n"],
    ["b/two.ts", 'type Place<T> = "x";\nclass Waiting {}\n'],
  ]);
  const types = declared(TYPES, sources);
  expect(namedTwice(types, true)).toEqual(["Place: a/one.ts,b/two.ts"]);
  expect(namedTwice(types, false)).toEqual(["Waiting: a/one.ts,b/two.ts"]);
  expect(participles(types)).toEqual(["Waiting: a/one.ts", "Waiting: b/two.ts"]);
});
