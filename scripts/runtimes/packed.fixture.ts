import { mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "rolldown";
import { writeModules } from "../build/modules.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const PACKAGES = ["core", "protocol", "models", "store"];

/** A project with the published files of our packages, without types, and with all other dependencies as links. */
export async function packedProject(): Promise<string> {
  const project = mkdtempSync(join(tmpdir(), "runtimes-"));
  const modules = join(project, "node_modules");
  mkdirSync(join(modules, "@banyan"), { recursive: true });
  for (const name of PACKAGES) await writeModules(join(ROOT, "packages", name), join(modules, "@banyan", name));
  for (const name of readdirSync(join(ROOT, "node_modules"))) {
    if (name !== "@banyan" && !name.startsWith(".")) symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
  }
  writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
  return project;
}

export interface PageBundle {
  readonly code: string;
  /** Imports that are not part of the bundle. */
  readonly imports: readonly string[];
}

/** Bundles a program for a runtime without Node, as one module. Throws if the bundler reports a warning. */
export async function bundleForPages(project: string, program: string, minify = false): Promise<PageBundle> {
  const source = join(project, "bundled.ts");
  writeFileSync(source, program);
  const { output } = await build({
    cwd: project,
    input: source,
    platform: "browser",
    write: false,
    transform: { target: "es2023" },
    onLog(level, log) {
      if (level === "warn") throw new Error(log.message);
    },
    output: { format: "esm", minify, codeSplitting: false },
  });
  const [chunk] = output;
  return { code: chunk.code, imports: chunk.imports };
}
