import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const PORTS = join(ROOT, "examples/ports");

/** Packages of the other libraries, in the versions that docs/coming-from.md names where it names one. */
const PACKAGES = [
  ...versionsIn(readFileSync(join(ROOT, "docs/coming-from.md"), "utf8")),
  ...["@ai-sdk/openai@4", "@hono/node-server@2", "hono@4", "@langchain/core@1", "@langchain/openai@1", "zod@4"],
  ...["@types/node@24", "typescript@5.9", "vitest@5"],
];

/** Returns the packages that the page names as "`ai` 7.0.173". */
function versionsIn(page: string): string[] {
  const sentence = /last ran with ([^|]*?\d)\.\s/.exec(page)?.[1] ?? "";
  return [...sentence.matchAll(/`([^`]+)` (\d+\.\d+\.\d+)/g)].map(([, name, version]) => `${name}@${version}`);
}

const CONFIG = {
  compilerOptions: {
    target: "esnext",
    module: "nodenext",
    lib: ["esnext", "dom"],
    types: ["node"],
    strict: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
    noEmit: true,
  },
  include: ["*.ts"],
};

test("L12: the programs of other libraries compile with the packages of their libraries", {
  timeout: 900_000,
}, (context) => {
  context.skip(process.env.BANYAN_LONG !== "1", "Installs the other libraries: only in long mode.");
  expect(PACKAGES.length).toBeGreaterThan(12);
  const folder = mkdtempSync(join(tmpdir(), "banyan-ports-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(PORTS, folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(CONFIG));
  const run = (program: string, ...args: readonly string[]) =>
    execFileSync(program, args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  run("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", ...PACKAGES);
  const faults = (() => {
    try {
      return run(process.execPath, "node_modules/typescript/bin/tsc", "--pretty", "false");
    } catch (error) {
      return (error as { readonly stdout: string }).stdout;
    }
  })();
  expect(faults).toBe("");
});
