import { existsSync, globSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "../../scripts/build/bundle.ts";
import { readManifest, writeModules } from "../../scripts/build/modules.ts";
import { writeProgram } from "../../scripts/build/program.ts";
import { temporaryDirectory } from "./stores/temporary.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Our clients, by the names of their modules in the built folder. */
const CLIENTS = {
  engine: "./src/clients/engine.ts",
  "engine-sqlite": "./src/clients/engine-sqlite.ts",
  "engine-over-package": "./src/clients/engine-over-package.ts",
};

/**
 * Builds all packages like for publication, into a folder like a user's project that installed them, with our clients.
 * The folder is removed when the process ends.
 */
export async function builtProject(): Promise<string> {
  const project = temporaryDirectory();
  const modules = join(project, "node_modules");
  mkdirSync(modules);
  // The page is no separate package.
  for (const file of globSync("packages/*/package.json", { cwd: ROOT, exclude: ["packages/web/**"] })) {
    const folder = join(ROOT, dirname(file));
    const { name, bin } = readManifest(folder);
    await (bin ? writeProgram : writeModules)(folder, join(modules, name));
    // The package's own versions, if the workspace has others.
    const own = join(folder, "node_modules");
    if (existsSync(own)) symlinkSync(own, join(modules, name, "node_modules"), "junction");
  }
  const there = new Set(readdirSync(modules));
  for (const name of readdirSync(join(ROOT, "node_modules"))) {
    if (!there.has(name)) symlinkSync(join(ROOT, "node_modules", name), join(modules, basename(name)), "junction");
  }
  await bundle(join(ROOT, "bench"), CLIENTS, { dist: project });
  writeFileSync(join(project, "package.json"), '{ "type": "module" }');
  return project;
}
