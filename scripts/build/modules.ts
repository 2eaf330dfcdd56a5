import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundle } from "./bundle.ts";
import {
  checkedOf,
  entriesOf,
  type Manifest,
  moduleOf,
  programOf,
  publishedManifest,
  uncheckedOf,
} from "./manifest.ts";
import { checkedCommand, checkedModule } from "./node-check.ts";

/** Writes the published files of a package into `dist`. Returns the package's manifest. */
export async function writeModules(folder: string, dist: string): Promise<Manifest> {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  const exported = await bundle(folder, entriesOf(manifest), { dist, named: uncheckedOf });
  for (const path of Object.keys(manifest.exports ?? {})) {
    const module = moduleOf(path);
    writeFileSync(join(dist, `${checkedOf(path)}.js`), checkedModule(manifest, module, exported.get(module) ?? []));
  }
  for (const command of Object.keys(manifest.bin ?? {})) {
    const file = join(dist, `${command}.js`);
    writeFileSync(file, checkedCommand(manifest, programOf(command)));
    chmodSync(file, 0o755);
  }
  writeFileSync(join(dist, "package.json"), `${JSON.stringify(publishedManifest(manifest), undefined, 2)}\n`);
  return manifest;
}
