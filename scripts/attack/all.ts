import { globSync } from "node:fs";
import { basename } from "node:path";

/** The file of each rule that has attacks: every `s18.ts` of this folder, by `S18`. */
export const all: ReadonlyMap<string, URL> = new Map(
  globSync("s*.ts", { cwd: import.meta.dirname })
    .filter((name) => /^s\d+\.ts$/.test(name))
    .map((name) => [basename(name, ".ts").toUpperCase(), new URL(name, import.meta.url)] as const)
    .sort(([a], [b]) => Number(a.slice(1)) - Number(b.slice(1))),
);
