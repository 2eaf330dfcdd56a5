import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "rolldown/utils";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

const entries = globSync("packages/*/package.json", { cwd: root }).flatMap((file) => {
  const manifest: { exports?: Record<string, string> } = JSON.parse(readFileSync(join(root, file), "utf8"));
  return Object.values(manifest.exports ?? {}).map((source) => join(dirname(file), source));
});

test.each(entries)("every export of %s says what it is", (entry) => {
  expect(undocumented(join(root, entry))).toEqual([]);
});

/** Entries whose functions, classes and constants each show a program: those that a developer begins with. */
const WITH_EXAMPLES = [
  "acp/src/index.ts",
  "core/src/ai-sdk/index.ts",
  "core/src/index.ts",
  "core/src/stores.ts",
  "core/src/testing/index.ts",
  "memory/src/index.ts",
  "models/src/index.ts",
  "server/src/index.ts",
  "store/src/durable-object/index.ts",
  "store/src/memory/index.ts",
  "store/src/sqlite/index.ts",
];

test.each(WITH_EXAMPLES)("L12: every function and class of %s has an example", (entry) => {
  expect(undocumented(join(root, "packages", entry), undefined, "an example")).toEqual([]);
});

/**
 * Returns the exports of a module that lack a doc comment; only of these names, if given. With `an example`: the
 * values that lack an `@example` in their doc comment and inside.
 */
function undocumented(
  file: string,
  names?: ReadonlySet<string>,
  needed: "a comment" | "an example" = "a comment",
): string[] {
  const text = readFileSync(file, "utf8");
  const { program, comments } = parseSync(file, text);
  const docs = comments.filter(({ type, value }) => type === "Block" && value.startsWith("*"));
  // A linter comment may come in between.
  const isDocumented = ({ start, end, declaration }: Exported) => {
    const doc = docs.findLast(
      (doc) => doc.end <= start && /^(?:\s|\/\/ biome-ignore .*)*$/.test(text.slice(doc.end, start)),
    );
    if (needed === "a comment") return doc !== undefined;
    return declaration?.type.startsWith("TS") || `${doc?.value}${text.slice(start, end)}`.includes("@example");
  };
  const documented = new Set<string>();
  const missing = new Set<string>();
  for (const node of program.body) {
    if (node.type === "ExportAllDeclaration") {
      for (const name of undocumented(beside(file, node.source.value), names, needed)) missing.add(name);
    } else if (node.type === "ExportNamedDeclaration" && node.declaration) {
      // For a function with several signatures, the first is documented.
      for (const name of declaredBy(node.declaration)) {
        if (isDocumented(node)) documented.add(name);
        else if (!documented.has(name) && (names?.has(name) ?? true)) missing.add(`${name} in ${relative(root, file)}`);
      }
    } else if (node.type === "ExportNamedDeclaration" && node.source === null) {
      for (const { exported } of node.specifiers)
        missing.add(`${nameOf(exported)}, exported apart from where it is declared`);
    } else if (node.type === "ExportNamedDeclaration" && node.source?.value.startsWith(".")) {
      const wanted = node.specifiers.filter(({ exported }) => names?.has(nameOf(exported)) ?? true);
      const theirs = new Set(wanted.map(({ local }) => nameOf(local)));
      for (const name of undocumented(beside(file, node.source.value), theirs, needed)) missing.add(name);
    }
  }
  return [...missing];
}

function beside(file: string, imported: string): string {
  return join(dirname(file), imported);
}

interface Exported {
  readonly start: number;
  readonly end: number;
  readonly declaration: { readonly type: string } | null;
}

type Name = { readonly name: string } | { readonly value: string };

function nameOf(name: Name): string {
  return "name" in name ? name.name : name.value;
}

function declaredBy(declaration: object): string[] {
  const { id, declarations = [] } = declaration as { id?: Name; declarations?: readonly { id: Name }[] };
  return [...(id ? [id] : []), ...declarations.map(({ id }) => id)].map(nameOf);
}
