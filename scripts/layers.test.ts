import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { cyclesIn, type ImportGraph, importGraph, readImportGraph } from "./house/import-graph.ts";
import { biomeLayers, foldersOf, type PackageLayer, readLayers } from "./layers.ts";

const ROOT = join(import.meta.dirname, "..");
const layers = readLayers();
const packages = layers.packages.map((layer) => ({
  layer,
  name: layer.name,
  graph: readImportGraph(join(ROOT, "packages", layer.name, "src")),
}));

test("H23: the import rules for Biome are those of layers.json: `node scripts/layers.ts` writes them", () => {
  expect(readFileSync(join(ROOT, "biome.layers.json"), "utf8")).toBe(biomeLayers(layers));
});

test("H23: a layer imports only layers below it", () => {
  const ofPackages = layers.packages.map(({ name, imports }, index) => {
    const below = layers.packages.slice(0, index).map((other) => other.name);
    return [name, imports.map((entry) => entry.replace(/\/.*/, "")).filter((other) => !below.includes(other))];
  });
  const ofFolders = layers.packages.flatMap((layer) =>
    foldersOf(layer).map(({ folder, imports }, index, all) => {
      const below = all.slice(0, index).map((other) => other.folder);
      return [`${layer.name}/${folder}`, imports.filter((other) => !below.includes(other))];
    }),
  );
  expect([...ofPackages, ...ofFolders].filter(([, wrong]) => wrong?.length !== 0)).toEqual([]);
});

test("H23: biome.json has under 150 lines of its own, all lines counted", () => {
  expect(readFileSync(join(ROOT, "biome.json"), "utf8").split("\n").length).toBeLessThan(150);
});

test("H17: layers.json names every package", () => {
  const folders = globSync("packages/*/package.json", { cwd: ROOT }).map((file) => basename(join(file, "..")));
  expect(packages.map(({ name }) => name).toSorted()).toEqual(folders.toSorted());
});

describe("H17: inside packages", () => {
  test.each(packages)("$name: layers.json names each folder with files", ({ layer, graph }) => {
    expect(graph.size).toBeGreaterThan(0);
    const unnamed = [...graph.keys()].filter((file) => levelOf(layer, file) === undefined);
    expect(unnamed).toEqual([]);
    const empty = foldersOf(layer).filter(
      ({ folder }) => ![...graph.keys()].some((file) => layerOf(layer, file) === folder),
    );
    expect(empty).toEqual([]);
  });

  test.each(packages)("$name: an import goes to a layer below, or stays in its own", ({ layer, graph }) => {
    expect(importsUp(layer, graph)).toEqual([]);
  });

  test.each(packages)("$name: no files import each other, types included", ({ graph }) => {
    expect(cyclesIn(graph)).toEqual([]);
  });
});

describe("H17: a made-up package", () => {
  const layer: PackageLayer = { name: "house", imports: [], folders: ["ground", "wall/inner", "wall"] };
  const graph = importGraph({
    "index.ts": 'export * from "./wall/wall.ts";\n',
    "ground/floor.ts": 'import type { Roof } from "../index.ts";\nexport type Floor = Roof;\n',
    "ground/stone.ts": 'export const lazily = () => import("../wall/wall.ts");\n',
    "ground/sand.ts": 'export type Lazy = typeof import("../wall/inner/beam.ts");\n',
    "wall/wall.ts": 'import { beam } from "./inner/beam.ts";\nexport const wall = beam;\n',
    "wall/inner/beam.ts": 'import { type Wall } from "../wall.ts";\nimport "../../ground/stone.ts";\n',
  });

  test("has its imports up found: of files, of types, and those that load later", () => {
    expect(importsUp(layer, graph)).toEqual([
      "ground/floor.ts -> index.ts",
      "ground/stone.ts -> wall/wall.ts",
      "ground/sand.ts -> wall/inner/beam.ts",
      "wall/inner/beam.ts -> wall/wall.ts",
    ]);
  });

  test("has its cycles found", () => {
    expect(cyclesIn(graph)).toEqual([["ground/stone.ts", "wall/inner/beam.ts", "wall/wall.ts"]]);
  });
});

/** The layer of a file: the innermost folder that layers.json names, `testing`, or `.` for a file in no folder. */
function layerOf(layer: PackageLayer, file: string): string {
  const named = foldersOf(layer).map(({ folder }) => folder);
  const around = named.filter((folder) => file.startsWith(`${folder}/`)).sort((a, b) => b.length - a.length);
  return around[0] ?? (file.includes("/") ? file.slice(0, file.indexOf("/")) : ".");
}

/** The height of a file's layer; nothing for a folder that layers.json does not name. Tests alone use `testing`. */
function levelOf(layer: PackageLayer, file: string): number | undefined {
  const folders = foldersOf(layer);
  const name = layerOf(layer, file);
  const level = folders.findIndex(({ folder }) => folder === name);
  if (level !== -1) return level;
  return name === "." ? folders.length : name === "testing" ? folders.length + 1 : undefined;
}

function importsUp(layer: PackageLayer, graph: ImportGraph): string[] {
  const allowed = new Map(foldersOf(layer).map(({ folder, imports }) => [folder, imports]));
  return [...graph].flatMap(([file, imports]) => {
    const own = layerOf(layer, file);
    const wrong = imports.filter(({ file: other }) => {
      const to = layerOf(layer, other);
      if (to === own) return false;
      const below = allowed.get(own);
      return below ? !below.includes(to) : (levelOf(layer, file) ?? 0) < (levelOf(layer, other) ?? 0);
    });
    return wrong.map(({ file: other }) => `${file} -> ${other}`);
  });
}
