// Builds the page from packages/web.
import { globSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "vite";

const root = fileURLToPath(new URL("..", import.meta.url));

const SOURCES = [
  "packages/web/{src,public}/**",
  "packages/web/{index.html,sign-in.html,vite.config.ts,package.json}",
  "packages/core/src/conversation/**",
  "packages/protocol/src/**",
  "packages/client/src/**",
];

/** The built page: its folder, and the files of all modules in it. */
export interface BuiltPage {
  readonly folder: string;
  readonly files: readonly string[];
}

/** Builds the page into a folder, which is emptied first. */
export async function buildPage(folder = join(root, "packages/web/dist")): Promise<BuiltPage> {
  const files: string[] = [];
  const collected: Plugin = { name: "files", moduleParsed: ({ id }) => void files.push(id.replace(/\?.*$/, "")) };
  await build({
    root: join(root, "packages/web"),
    logLevel: "error",
    plugins: [collected],
    build: { outDir: folder, emptyOutDir: true },
  });
  return { folder, files };
}

/** Returns whether the page was built after the last change of its sources. */
export function isPageFresh(): boolean {
  const built = modified(join(root, "packages/web/dist/index.html"));
  return globSync(SOURCES, { cwd: root }).every((file) => modified(join(root, file)) <= built);
}

/** Milliseconds since 1970; 0 for a missing file. */
function modified(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
