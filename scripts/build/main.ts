// Builds the published files of each package: packages/<folder>/dist, ready for `npm pack` and `npm publish`.
import { copyFileSync, globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildPage } from "../page.ts";
import { copyDeclarations, declare } from "./declarations.ts";
import { copyDocs } from "./docs.ts";
import { declarationOf } from "./manifest.ts";
import { writeModules } from "./modules.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const declarations = mkdtempSync(join(tmpdir(), "banyan-build-"));
try {
  declare(declarations);
  const packages = globSync("packages/*/package.json", { cwd: root }).map((file) => join(root, dirname(file)));
  // The page is no separate package: the server contains it.
  for (const folder of packages.filter((folder) => basename(folder) !== "web")) await build(folder);
  await buildPage(join(root, "packages/server/dist/page"));
} finally {
  rmSync(declarations, { recursive: true });
}

async function build(folder: string): Promise<void> {
  const dist = join(folder, "dist");
  rmSync(dist, { recursive: true, force: true });
  const manifest = await writeModules(folder, dist);
  const typed = Object.values(manifest.exports ?? {}).map(declarationOf);
  copyDeclarations(join(declarations, basename(folder), "src"), join(dist, "types"), typed);
  copyFileSync(join(folder, "README.md"), join(dist, "README.md"));
  copyFileSync(join(root, "LICENSE"), join(dist, "LICENSE"));
  if (basename(folder) === "core") copyDocs(root, dist);
  process.stdout.write(`${manifest.name} ${manifest.version}: packages/${basename(folder)}/dist\n`);
}
