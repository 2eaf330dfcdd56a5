import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

interface Manifest {
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
}

function namedInManifests(): Set<string> {
  const manifests = globSync(
    ["package.json", "packages/*/package.json", "bench/package.json", "examples/package.json"],
    {
      cwd: root,
    },
  );
  const named = manifests.flatMap((file) => {
    const { dependencies, devDependencies, peerDependencies } = JSON.parse(
      readFileSync(join(root, file), "utf8"),
    ) as Manifest;
    return Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies });
  });
  return new Set(named.filter((name) => name !== "banyan" && !name.startsWith("@banyan/")));
}

test("docs/dependencies.md says of every dependency, and of no other package, why it is there", () => {
  const page = readFileSync(join(root, "docs", "dependencies.md"), "utf8");
  const listed = [...page.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name);
  expect(listed.toSorted()).toEqual([...namedInManifests()].sort());
});
