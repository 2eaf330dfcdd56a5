import { globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "rolldown/utils";
import { describe, expect, test } from "vitest";

interface Source {
  /** All lines: of code, of comments and empty ones. */
  readonly lines: number;
  readonly imports: readonly string[];
  /** Imported files that are needed at run time, not only for types. */
  readonly runs: readonly string[];
}

type Sources = ReadonlyMap<string, Source>;

const MOST = { files: 15, floors: 6, lines: 2_250 };
const LOOP = "turn/step-loop.ts";
const LOOP_LINES = 4_280;
/** Folders below the loop, which need not be read to understand the loop. */
const BELOW = [
  // The loop calls this folder once before each request, to make room. The folder's own limits apply.
  "context",
  "conversation",
  "conversation/checked",
  "conversation/forms",
  "conversation/tree",
  "conversation/shown",
  "ports",
  "past",
  "session",
];

const core = readSources(fileURLToPath(new URL("../packages/core/src", import.meta.url)));
const rooms = [...new Set([...core.keys()].map((file) => posix.dirname(file)))].filter((room) => room !== ".").sort();

describe("the rooms of core", () => {
  test.each(rooms)("H10: %s has at most 15 files, 6 floors and 2,250 lines", (room) => {
    const files = filesIn(core, room);
    const found = { files: files.length, floors: floorsOf(core, files), lines: linesOf(core, files) };
    const over = Object.entries(found).filter(([what, count]) => count > MOST[what as keyof typeof MOST]);
    expect(over).toEqual([]);
  });

  test("H10: the loop and all that it reaches above the session, without context, has at most 4,280 lines", () => {
    const reached = [...reachedFrom(core, LOOP)].filter((file) => !BELOW.includes(posix.dirname(file)));
    expect(reached.length).toBeGreaterThan(20);
    expect(linesOf(core, reached)).toBeLessThanOrEqual(LOOP_LINES);
  });
});

describe("how it is counted", () => {
  const house = sourcesOf({
    "room/roof.ts": 'import { a } from "./attic.ts";\n\n/** Said\n * of it. */\nexport const roof = a; // why\n',
    "room/attic.ts":
      'import { b } from "./wall.ts";\nimport type { T } from "../other/x.ts";\n\nexport const a: T = b;\n',
    "room/wall.ts": 'import type { B } from "./beam.ts";\nexport const b: B = 1;\n',
    "room/beam.ts":
      'export type { C } from "./floor.ts";\nimport type { b } from "./wall.ts";\nexport type B = typeof b;\n',
    "room/floor.ts": "// Nothing but ground.\nexport type C = 1;\n",
    "other/x.ts": "export type T = 1;\n",
  });
  const room = filesIn(house, "room");

  test("H19: every line counts, of code, of comments and empty ones", () => {
    expect(house.get("room/roof.ts")?.lines).toBe(5);
    expect(linesOf(house, room)).toBe(16);
  });

  test("H10: files that need each other stand on one floor, and what is outside counts none", () => {
    expect(floorsOf(house, room)).toBe(4);
  });

  test("H10: files that need each other for types alone stand on as many floors as run on each other", () => {
    const types = 'import type { T } from "./a.ts";\n';
    const circle = sourcesOf({
      "room/a.ts": 'import { b } from "./b.ts";\nexport type T = 1;\nexport const a = b;\n',
      "room/b.ts": `${types}import { c } from "./c.ts";\nexport const b: T = c;\n`,
      "room/c.ts": `${types}export const c: T = 1;\n`,
    });
    expect(floorsOf(circle, filesIn(circle, "room"))).toBe(3);
  });

  test("H10: all that a file needs is reached from it, itself included", () => {
    expect([...reachedFrom(house, "room/wall.ts")].sort()).toEqual(["room/beam.ts", "room/floor.ts", "room/wall.ts"]);
  });
});

function readSources(folder: string): Sources {
  const files = globSync("**/*.ts", { cwd: folder }).filter((file) => !/\.(test|fixture)\.ts$/.test(file));
  return sourcesOf(Object.fromEntries(files.map((file) => [file, readFileSync(join(folder, file), "utf8")])));
}

function sourcesOf(texts: Readonly<Record<string, string>>): Sources {
  return new Map(Object.entries(texts).map(([file, text]) => [file.replaceAll("\\", "/"), sourceOf(file, text)]));
}

function sourceOf(file: string, text: string): Source {
  const { program } = parseSync(file, text);
  const imports: string[] = [];
  const runs: string[] = [];
  for (const node of program.body) {
    if (!("source" in node) || !node.source?.value.startsWith(".")) continue;
    const imported = posix.join(posix.dirname(file), node.source.value);
    imports.push(imported);
    const kinds = node.type === "ImportDeclaration" ? node.specifiers.map(kindOf) : [];
    const isType = kindOf(node) === "type" || (kinds.length > 0 && kinds.every((kind) => kind === "type"));
    if (!isType) runs.push(imported);
  }
  // Code that is loaded on demand is part of the loop too.
  for (const [, source = ""] of text.matchAll(/\bimport\("(\.[^"]+)"\)/g))
    imports.push(posix.join(posix.dirname(file), source));
  return { lines: text.split("\n").length - 1, imports, runs };
}

function kindOf(node: object): "type" | "value" {
  const said = "importKind" in node ? node.importKind : "exportKind" in node ? node.exportKind : undefined;
  return said === "type" ? "type" : "value";
}

function filesIn(sources: Sources, room: string): string[] {
  return [...sources.keys()].filter((file) => posix.dirname(file) === room);
}

function linesOf(sources: Sources, files: readonly string[]): number {
  return files.reduce((sum, file) => sum + (sources.get(file)?.lines ?? 0), 0);
}

function reachedFrom(sources: Sources, start: string, by: "imports" | "runs" = "imports"): Set<string> {
  const reached = new Set([start]);
  for (const file of reached) {
    for (const next of sources.get(file)?.[by] ?? []) if (sources.has(next)) reached.add(next);
  }
  return reached;
}

/** Returns the longest chain of imports, of all imports or only those at run time. */
function floorsOf(sources: Sources, files: readonly string[]): number {
  const room = new Map([...sources].filter(([file]) => files.includes(file)));
  return Math.max(longestChain(room, "imports"), longestChain(room, "runs"));
}

/** Files that import each other count as one link. */
function longestChain(room: Sources, by: "imports" | "runs"): number {
  const reached = new Map([...room.keys()].map((file) => [file, reachedFrom(room, file, by)]));
  const heights = new Map<string, number>();
  const height = (file: string): number => {
    let known = heights.get(file);
    if (known === undefined) {
      const below = [...(reached.get(file) ?? [])].filter((other) => !reached.get(other)?.has(file));
      known = 1 + Math.max(0, ...below.map(height));
      heights.set(file, known);
    }
    return known;
  };
  return Math.max(...[...room.keys()].map(height));
}
