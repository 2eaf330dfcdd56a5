import { globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { parseSync, Visitor } from "rolldown/utils";

/** The imports of each file, by paths below one folder. */
export type ImportGraph = ReadonlyMap<string, readonly Import[]>;

export interface Import {
  readonly file: string;
  /** True if only types are imported. */
  readonly isType: boolean;
}

/** Reads the imports between the product files below a folder, without imports of packages and other files. */
export function readImportGraph(folder: string): ImportGraph {
  const files = globSync("**/*.{ts,tsx}", { cwd: folder }).map((file) => file.replaceAll("\\", "/"));
  const product = files.filter((file) => !/\.(test|fixture)\.tsx?$/.test(file)).sort();
  return importGraph(Object.fromEntries(product.map((file) => [file, readFileSync(join(folder, file), "utf8")])));
}

export function importGraph(texts: Readonly<Record<string, string>>): ImportGraph {
  return new Map(
    Object.entries(texts).map(([file, text]) => {
      const found = importsIn(file, text).filter((each) => each.file !== file && Object.hasOwn(texts, each.file));
      return [file, found];
    }),
  );
}

function importsIn(file: string, text: string): Import[] {
  const found: Import[] = [];
  const add = (source: unknown, isType: boolean) => {
    if (typeof source !== "string" || !source.startsWith(".")) return;
    found.push({ file: posix.join(posix.dirname(file), source), isType });
  };
  new Visitor({
    ImportDeclaration({ source, importKind, specifiers }) {
      const kinds = specifiers.map((each) => ("importKind" in each ? each.importKind : "value"));
      add(source.value, importKind === "type" || (kinds.length > 0 && kinds.every((kind) => kind === "type")));
    },
    ExportNamedDeclaration({ source, exportKind }) {
      add(source?.value, exportKind === "type");
    },
    ExportAllDeclaration({ source, exportKind }) {
      add(source.value, exportKind === "type");
    },
    ImportExpression({ source }) {
      add("value" in source ? source.value : undefined, false);
    },
    TSImportType({ source }) {
      add(source.value, true);
    },
  }).visit(parseSync(file, text).program);
  return found;
}

/** Returns the groups of files that import each other, directly or through others, types included. */
export function cyclesIn(graph: ImportGraph): string[][] {
  const groups: string[][] = [];
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const visit = (file: string): number => {
    const own = order.size;
    order.set(file, own);
    lowest.set(file, own);
    stack.push(file);
    for (const next of graph.get(file) ?? []) {
      const reached = order.has(next.file)
        ? stack.includes(next.file)
          ? (order.get(next.file) ?? own)
          : own
        : visit(next.file);
      lowest.set(file, Math.min(lowest.get(file) ?? own, reached));
    }
    const low = lowest.get(file) ?? own;
    if (low === own) {
      const group = stack.splice(stack.indexOf(file));
      if (group.length > 1) groups.push(group.sort());
    }
    return low;
  };
  for (const file of graph.keys()) if (!order.has(file)) visit(file);
  return groups;
}
