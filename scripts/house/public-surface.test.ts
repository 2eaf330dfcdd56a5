import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { exportsOf } from "./exports.ts";

/** Maximum number of exports for users of the library. Other exports belong in other entries. */
const MOST = 93;

const root = fileURLToPath(new URL("../..", import.meta.url));
const core = join(root, "packages/core");
const manifest: { exports: Record<string, string> } = JSON.parse(readFileSync(join(core, "package.json"), "utf8"));
/** The instants at which our programs are killed are only for our tests. */
const entries = Object.entries(manifest.exports).filter(([path]) => path !== "./testing/moments");
const page = sectionsOf(readFileSync(join(root, "docs/library.md"), "utf8"));
const main = exportsOf(join(core, "src/index.ts"));

test("H8: the main entry of core exports at most 93 names", () => {
  expect(main.length).toBeGreaterThan(50);
  expect(main.length).toBeLessThanOrEqual(MOST);
});

describe("docs/library.md", () => {
  test.each(entries)("names each export of %s, and no other", (path, source) => {
    const heading = posix.join("@banyan/core", path);
    const exported = exportsOf(join(core, source));
    const named = page.get(heading) ?? [];
    const ownNames = path === "." ? exported : exported.filter((name) => !main.includes(name) || named.includes(name));
    expect(named.toSorted()).toEqual(ownNames.toSorted());
  });

  test("has no part about an entry that is not there", () => {
    expect([...page.keys()]).toEqual(entries.map(([path]) => posix.join("@banyan/core", path)));
  });
});

function sectionsOf(markdown: string): Map<string, string[]> {
  const [, ...sections] = markdown.split(/^## /m);
  return new Map(
    sections.map((section) => {
      const [heading = "", ...lines] = section.split("\n");
      const first = lines.filter((line) => line.startsWith("| ")).map((line) => line.split(" | ")[0] ?? "");
      const errors = section.match(/^### Errors\n\n.*?(?=\n\n)/ms)?.[0] ?? "";
      const names = [...first, errors].flatMap((text) => [...text.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name));
      return [heading, names];
    }),
  );
}
