// Builds the published files of each package: packages/<folder>/dist, ready for `npm pack` and `npm publish`.
import { copyFileSync, cpSync, globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuiltPage, buildPage } from "../page.ts";
import { copyDeclarations, declare } from "./declarations.ts";
import { copyDocs } from "./docs.ts";
import { writeLicences } from "./licences.ts";
import { declarationOf } from "./manifest.ts";
import { readManifest, writeModules } from "./modules.ts";
import { writeProgram } from "./program.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const declarations = mkdtempSync(join(tmpdir(), "banyan-build-"));
try {
  declare(declarations);
  const packages = globSync("packages/*/package.json", { cwd: root }).map((file) => join(root, dirname(file)));
  // The page is no separate package: the server and the program contain it.
  const page = await buildPage(join(declarations, "page"));
  for (const folder of packages.filter((folder) => basename(folder) !== "web")) await build(folder, page);
} finally {
  rmSync(declarations, { recursive: true });
}

async function build(folder: string, page: BuiltPage): Promise<void> {
  const dist = join(folder, "dist");
  rmSync(dist, { recursive: true, force: true });
  const manifest = readManifest(folder);
  const isProgram = manifest.bin !== undefined;
  const hasPage = isProgram || basename(folder) === "server";
  const files = isProgram ? await writeProgram(folder, dist) : [];
  if (!isProgram) await writeModules(folder, dist);
  if (hasPage) cpSync(page.folder, join(dist, "page"), { recursive: true });
  writeLicences([...files, ...(hasPage ? page.files : [])], dist);
  const typed = Object.values(manifest.exports ?? {}).map(declarationOf);
  copyDeclarations(join(declarations, basename(folder), "src"), join(dist, "types"), typed);
  copyFileSync(join(folder, "README.md"), join(dist, "README.md"));
  copyFileSync(join(root, "LICENSE"), join(dist, "LICENSE"));
  if (basename(folder) === "core") copyDocs(root, dist);
  process.stdout.write(`${manifest.name} ${manifest.version}: packages/${basename(folder)}/dist\n`);
}
