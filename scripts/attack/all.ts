import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The file of each rule that has attacks, by `S18`: every `s18.ts` of this folder, and every file named after what it attacks,
 * whose first line is a comment that begins with the number, as in `// S44: ...`.
 */
export const all: ReadonlyMap<string, URL> = new Map(
  globSync("*.ts", { cwd: import.meta.dirname })
    .flatMap((name) => {
      const rule = /^s\d+(?=\.ts$)/.exec(name)?.[0].toUpperCase() ?? ruleInHead(name);
      return rule === undefined ? [] : [[rule, new URL(name, import.meta.url)] as const];
    })
    .sort(([a], [b]) => Number(a.slice(1)) - Number(b.slice(1))),
);

function ruleInHead(name: string): string | undefined {
  return /^\/\/ (S\d+):/.exec(readFileSync(join(import.meta.dirname, name), "utf8"))?.[1];
}
