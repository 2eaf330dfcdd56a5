// Makes of each package what is published of it: packages/<folder>/dist, ready for `npm pack` and `npm publish`.
import { chmodSync, copyFileSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildPage } from "../page.ts";
import { bundle } from "./bundle.ts";
import { copyDeclarations, declare } from "./declarations.ts";
import {
  checkedOf,
  declarationOf,
  entriesOf,
  type Manifest,
  moduleOf,
  programOf,
  publishedManifest,
} from "./manifest.ts";
import { checkedCommand, checkedModule } from "./node-check.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const declarations = mkdtempSync(join(tmpdir(), "banyan-build-"));
try {
  declare(declarations);
  const packages = globSync("packages/*/package.json", { cwd: root }).map((file) => join(root, dirname(file)));
  // The page is no package of its own: the server brings it.
  for (const folder of packages.filter((folder) => basename(folder) !== "web")) await build(folder);
  await buildPage(join(root, "packages/server/dist/page"));
} finally {
  rmSync(declarations, { recursive: true });
}

async function build(folder: string): Promise<void> {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  const dist = join(folder, "dist");
  rmSync(dist, { recursive: true, force: true });
  const exported = await bundle(folder, entriesOf(manifest));
  for (const path of Object.keys(manifest.exports ?? {})) {
    const module = moduleOf(path);
    writeFileSync(join(dist, `${checkedOf(path)}.js`), checkedModule(manifest, module, exported.get(module) ?? []));
  }
  const typed = Object.values(manifest.exports ?? {}).map(declarationOf);
  copyDeclarations(join(declarations, basename(folder), "src"), join(dist, "types"), typed);
  for (const command of Object.keys(manifest.bin ?? {})) {
    const file = join(dist, `${command}.js`);
    writeFileSync(file, checkedCommand(manifest, programOf(command)));
    chmodSync(file, 0o755);
  }
  writeFileSync(join(dist, "package.json"), `${JSON.stringify(publishedManifest(manifest), undefined, 2)}\n`);
  copyFileSync(join(folder, "README.md"), join(dist, "README.md"));
  copyFileSync(join(root, "LICENSE"), join(dist, "LICENSE"));
  process.stdout.write(`${manifest.name} ${manifest.version}: packages/${basename(folder)}/dist\n`);
}
