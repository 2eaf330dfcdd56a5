import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { bundle } from "./bundle.ts";
import { importsOf } from "./syntax.fixture.ts";

/** More characters than a small piece has. */
const LARGE = 30_000;

/** Source of a module that exports its name, in `size` characters. */
const exported = (name: string, size: number) =>
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

test("V3: a moment of a start loads one file for all that it shares with the same others, and nothing of others", async () => {
  const loadedAt = await programOf({
    main: `await import("./first.ts");\nawait import("./second.ts");\nawait import("./later.ts");`,
    first: `${imported("common", "also", "shared", "firstOwn")}new Worker(new URL("./thread.ts", import.meta.url));`,
    second: imported("common", "also", "shared", "secondOwn"),
    later: `${imported("common")}await import("./onDemand.ts");`,
    // No moment of its own: loads more than needed, so that moments load less.
    onDemand: imported("shared", "firstOwn"),
    thread: imported("ofThread", "threadOwn"),
    ...Object.fromEntries(
      ["common", "also", "shared", "firstOwn", "secondOwn", "ofThread", "threadOwn"].map((name) => [
        name,
        exported(name, LARGE),
      ]),
    ),
  });
  expect(loadedAt("main")).toEqual({ files: 1, modules: [] });
  expect(loadedAt("thread")).toEqual({ files: 1, modules: ["ofThread", "threadOwn"] });
  // Its name, its own modules, those that two moments share, and those that three moments share.
  expect(loadedAt("first")).toEqual({ files: 4, modules: ["also", "common", "firstOwn", "shared"] });
});

test("V3: a moment loads a small piece of others with what it needs, if this saves them a file", async () => {
  const sources = (size: number) => ({
    main: `await import("./first.ts");\nawait import("./second.ts");\nawait import("./later.ts");`,
    first: imported("common"),
    second: imported("common", "piece"),
    later: imported("common", "piece"),
    common: exported("common", LARGE),
    piece: exported("piece", size),
  });
  expect((await programOf(sources(LARGE)))("first").modules).toEqual(["common"]);
  expect((await programOf(sources(100)))("first").modules).toEqual(["common", "piece"]);
});
