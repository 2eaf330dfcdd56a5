import { globSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { type DeclaredExport, declaredExports } from "./house/declared-exports.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Entries that only our own programs and tests import. They are published because these programs are packages too. In
 * these entries, only exports that the package's README names need examples.
 */
const INNER = [
  "@banyan/client/actions",
  "@banyan/core/testing/moments",
  "@banyan/desk/serving",
  "@banyan/desk/testing",
  "@banyan/host",
  "@banyan/host/directories",
  "@banyan/host/find-program",
  "@banyan/host/mcp",
  "@banyan/host/number-settings",
  "@banyan/host/own-command",
  "@banyan/host/workspace-files",
  "@banyan/restate/testing",
  "@banyan/server/acp",
  "@banyan/server/local-servers",
  "@banyan/server/testing",
  "@banyan/store/testing",
  "@banyan/telemetry/variables",
  "@banyan/tools/acts",
  "@banyan/tools/mcp/elicitation",
  "@banyan/tools/mcp/entry",
  "@banyan/tools/processes",
  "@banyan/tools/sandbox/find-program",
];

/** Maximum number of declarations from the linked export to the type, so that its example concerns the type. */
const MOST_STEPS = 4;

const entries = globSync("packages/*/package.json", { cwd: root }).flatMap((file) => {
  const { name, exports = {} }: { name: string; exports?: Record<string, string> } = JSON.parse(textOf(file));
  return Object.entries(exports).map(([path, source]) => {
    const entry = posix.join(name, path);
    const exported = declaredExports(join(root, dirname(file), source));
    const readme = INNER.includes(entry) ? textOf(join(dirname(file), "README.md")) : undefined;
    return { entry, exported, forUsers: exported.filter(({ name }) => !readme || codeNames(readme).has(name)) };
  });
});
const all = new Set(entries.flatMap(({ exported }) => exported));
const allByName = Map.groupBy(all, ({ name }) => name);
/** The types and classes that each exported declaration names, also of types that no entry exports. */
const namesIn = new Map(
  [
    ...Map.groupBy(
      [...new Set([...all].map(({ file }) => file))].flatMap((file) => declaredExports(join(root, "packages", file))),
      ({ name }) => name,
    ),
  ].map(([name, declarations]) => {
    const text = declarations.map(({ doc, text }) => doc + text).join("\n");
    return [name, [...wordsOf(text.replaceAll(/\{@link \w+\}/g, ""))].filter((word) => /^[A-Z]/.test(word))] as const;
  }),
);

test.each(entries)("every export of $entry has a doc comment", ({ exported }) => {
  expect(exported.filter(({ doc }) => doc === "").map(placeOf)).toEqual([]);
});

test.each(entries)("L12: every function, class and constant of $entry has an example", ({ forUsers }) => {
  expect(forUsers.filter((each) => !each.isType && !hasExample(each)).map(placeOf)).toEqual([]);
});

test.each(entries)(
  "L12: every type of $entry has an example, or links an export whose example concerns the type",
  ({ forUsers }) => {
    expect(forUsers.filter((each) => each.isType && !hasExample(each) && !linksExample(each)).map(placeOf)).toEqual([]);
  },
);

test("L12: the entries without examples exist, and no README or program of examples/ imports them", () => {
  const known = entries.map(({ entry }) => entry);
  expect(INNER.filter((entry) => !known.includes(entry))).toEqual([]);
  const pages = globSync(["packages/*/README.md", "docs/*.md", "examples/src/*.ts"], { cwd: root })
    .filter((file) => !file.endsWith(".test.ts"))
    .map(textOf);
  const imported = INNER.filter((entry) => pages.some((page) => page.includes(`from "${entry}"`)));
  // The README of the host shows a few of its functions.
  expect(imported).toEqual(["@banyan/host"]);
});

describe("a link to an example", () => {
  const type = { name: "Leaf", file: "core/leaf.ts", isType: true, doc: "", text: "" };
  const linksTo = (name: string) => linksExample({ ...type, name: "RunEnd", doc: `Reason. See {@link ${name}}.` });

  test("L12: counts if the linked export has an example and concerns the type", () => {
    expect(linksTo("describeBrokenTurn")).toBe(true);
  });

  test("L12: does not count for an unknown export, without an example, or about another subject", () => {
    expect(linksTo("describeNothing")).toBe(false);
    expect(linksTo("BrokenTurn")).toBe(false);
    expect(linksTo("formatBytes")).toBe(false);
  });
});

function textOf(file: string): string {
  return readFileSync(join(root, file), "utf8");
}

function placeOf({ name, file }: DeclaredExport): string {
  return `${name} in packages/${file}`;
}

/** An option may have the example inside an interface or a class. */
function hasExample({ doc, text }: DeclaredExport): boolean {
  return `${doc}${text}`.includes("@example");
}

function linksExample(type: DeclaredExport): boolean {
  return [...type.doc.matchAll(/\{@link (\w+)\}/g)].some(([, link = ""]) => {
    const target = allByName.get(link)?.some(hasExample) ?? false;
    return target && (leadsTo(link, type.name, MOST_STEPS) || wordsOf(type.text).has(link));
  });
}

/** True if the declaration of `from` names `to`, directly or through other exported declarations. */
function leadsTo(from: string, to: string, steps: number): boolean {
  let names = new Set([from]);
  for (let step = 0; step < steps && !names.has(to); step++)
    names = new Set([...names].flatMap((name) => namesIn.get(name) ?? []));
  return names.has(to);
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.match(/\b[A-Za-z_]\w*/g));
}

/** Returns the names in the code of a Markdown text. */
function codeNames(markdown: string): ReadonlySet<string> {
  return wordsOf((markdown.match(/^```[\s\S]*?^```|`[^`\n]+`/gm) ?? []).join(" "));
}
