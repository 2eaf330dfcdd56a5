import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { bundle } from "./build/bundle.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Puts the program together for tests that start it, as it is published: in a few modules, which Node reads in half the time
 * that it needs for the sources. Hundreds of starts a run are a third of its time.
 */
export default async function testProgram(project: TestProject): Promise<() => void> {
  // Its dependencies are found above it.
  const folder = join(root, "node_modules", ".cache", `banyan-${process.pid}`);
  const put = () => bundle(join(root, "packages/cli"), { main: "src/main.ts" }, { dist: folder, inlines });
  await put();
  project.onTestsRerun(async () => void (await put()));
  process.env.BANYAN_TEST_PROGRAM = join(folder, "main.js");
  return () => rmSync(folder, { recursive: true, force: true });
}

/** Our own packages, and what a package of ours has in another version than the rest. */
function inlines(id: string, importer = ""): boolean {
  if (id.startsWith("@banyan/")) return true;
  const [, own] = /^(.*\/packages\/[^/]+)\/src\//.exec(importer) ?? [];
  return own !== undefined && existsSync(join(own, "node_modules", ...packageOf(id)));
}

function packageOf(id: string): string[] {
  return id.split("/").slice(0, id.startsWith("@") ? 2 : 1);
}
