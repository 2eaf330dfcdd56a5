import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const tsc = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));
const project = fileURLToPath(new URL("tsconfig.json", import.meta.url));

/** Several checkers would repeat shared work: twice the work, and not faster on two cores. */
export const ONE_CHECKER = ["--checkers", "1"];

/** Writes the types of every package to `<directory>/<folder in packages/>/src`. Throws on a type error. */
export function declare(directory: string): void {
  const { status } = spawnSync(process.execPath, [tsc, ...ONE_CHECKER, "--project", project, "--outDir", directory], {
    stdio: "inherit",
  });
  if (status !== 0) throw new Error("The sources have type errors, named above: mend them, and build again.");
}

/**
 * Copies declarations with their relative imports. The compiler's declarations import sources, `./name.ts`; the copies
 * import published modules, `./name.js`.
 */
export function copyDeclarations(from: string, to: string, entries: readonly string[]): void {
  const wanted = new Set(entries);
  for (const file of wanted) {
    const text = readFileSync(join(from, file), "utf8").replace(relativeModule, (_specifier, path: string) => {
      wanted.add(join(dirname(file), `${path}.d.ts`));
      return `"${path}.js"`;
    });
    mkdirSync(dirname(join(to, file)), { recursive: true });
    writeFileSync(join(to, file), text);
  }
}

const relativeModule = /(?<=\b(?:from |import |import\())"(\.[^"]+)\.ts"/g;
