import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { bundle } from "./bundle.ts";
import { importsOf } from "./syntax.fixture.ts";

/** Source of a module that exports its name, with as many characters as make it a large one. */
const exported = (name: string, size = 0) =>
  `export const ${name} = ${JSON.stringify(`module ${name}`.padEnd(size, "."))};\n`;

const imported = (...names: readonly string[]) =>
  `${names.map((name) => `import { ${name} } from "./${name}.ts";\n`).join("")}globalThis.used = [${names.join()}];\n`;

/** Bundles a program of these sources. Returns the files that one of them loads at once, and the modules in these files. */
async function programOf(sources: Readonly<Record<string, string>>) {
  const root = mkdtempSync(join(tmpdir(), "moments-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(sources)) {
    const file = join(root, "packages/program/src", `${name}.ts`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  const dist = join(root, "dist");
  const starts = ["src/main.ts"];
  await bundle(join(root, "packages/program"), { main: "src/main.ts" }, { dist, sourcemap: false, starts });
  const read = (file: string) => readFileSync(join(dist, file), "utf8");
  const [, onDemand = ""] = /import\("\.\/(first[^"]*)"\)/.exec(read("main.js")) ?? [];
  return (entry: "main" | "first" | "thread") => {
    const files = new Set([{ main: "main.js", first: onDemand, thread: "program-thread.js" }[entry]]);
    for (const file of files)
      for (const path of importsOf(join(dist, file), "at its start")) files.add(path.replace("./", ""));
    const modules = [...files].flatMap((file) => [...read(file).matchAll(/"module (\w+)/g)].map(([, name]) => name));
    return { files: files.size, modules: modules.toSorted() };
  };
}

test("V3: a moment of a start loads one file for all that it shares, and nothing of others but small pieces", async () => {
  const loadedAt = await programOf({
    main: `await import("./first.ts");\nawait import("./second.ts");\nawait import("./later.ts");`,
    first: `${imported("large", "small", "alsoLarge", "own")}new Worker(new URL("./thread.ts", import.meta.url));`,
    second: imported("large", "small", "alsoLarge", "secondOwn"),
    third: imported("large", "own"),
    later: `${imported("alsoLarge")}await import("./third.ts");`,
    thread: imported("small", "threadOwn"),
    large: exported("large", 30_000),
    alsoLarge: exported("alsoLarge", 30_000),
    small: exported("small"),
    own: exported("own", 30_000),
    secondOwn: exported("secondOwn", 30_000),
    threadOwn: exported("threadOwn", 30_000),
  });
  expect(loadedAt("main")).toEqual({ files: 1, modules: [] });
  expect(loadedAt("thread").modules).toEqual(["small", "threadOwn"]);
  const first = loadedAt("first");
  expect(first.modules).toEqual(["alsoLarge", "large", "own", "small"]);
});
