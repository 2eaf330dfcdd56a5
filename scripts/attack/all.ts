import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = join(import.meta.dirname, "rules");

/** Files with attacks by rule number. A comment in the head of each begins with the number, as in `// S18: ...`. */
export const all: ReadonlyMap<string, URL> = new Map(
  globSync("*.ts", { cwd: FOLDER })
    .flatMap((name) => {
      const rule = /^\/\/ (S\d+):/m.exec(readFileSync(join(FOLDER, name), "utf8"))?.[1];
      return rule === undefined ? [] : [[rule, new URL(`rules/${name}`, import.meta.url)] as const];
    })
    .sort(([a], [b]) => Number(a.slice(1)) - Number(b.slice(1))),
);
