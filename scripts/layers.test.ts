import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { biomeLayers, readLayers } from "./layers.ts";

const ROOT = join(import.meta.dirname, "..");
const layers = readLayers();

test("H23: the import rules for Biome are those of layers.json: `node scripts/layers.ts` writes them", () => {
  expect(readFileSync(join(ROOT, "biome.layers.json"), "utf8")).toBe(biomeLayers(layers));
});

test("H23: a layer imports only layers below it", () => {
  const packages = layers.packages.map(({ name, imports }, index) => {
    const below = layers.packages.slice(0, index).map((other) => other.name);
    return [name, imports.map((entry) => entry.replace(/\/.*/, "")).filter((other) => !below.includes(other))];
  });
  const folders = layers.core.map(({ folder, imports }, index) => {
    const below = ["conversation", ...layers.core.slice(0, index).map((other) => other.folder)];
    return [folder, imports.filter((other) => !below.includes(other))];
  });
  expect([...packages, ...folders].filter(([, wrong]) => wrong?.length !== 0)).toEqual([]);
});

test("H23: biome.json has under 150 lines of its own, all lines counted", () => {
  expect(readFileSync(join(ROOT, "biome.json"), "utf8").split("\n").length).toBeLessThan(150);
});
