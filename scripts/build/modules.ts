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
import { checkedCommand, checkedModule, NODE_CHECK, nodeCheck } from "./node-check.ts";

/** Writes the published files of a package into `dist`. Returns the package's manifest. */
export async function writeModules(folder: string, dist: string): Promise<Manifest> {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  await bundle(folder, entriesOf(manifest), { dist, named: uncheckedOf });
  const exported = Object.keys(manifest.exports ?? {});
  if (exported.length > 0) writeFileSync(join(dist, NODE_CHECK), nodeCheck(manifest));
  for (const path of exported) writeFileSync(join(dist, `${checkedOf(path)}.js`), checkedModule(moduleOf(path)));
  for (const command of Object.keys(manifest.bin ?? {})) {
    const file = join(dist, `${command}.js`);
    writeFileSync(file, checkedCommand(manifest, programOf(command)));
    chmodSync(file, 0o755);
  }
  writeFileSync(join(dist, "package.json"), `${JSON.stringify(publishedManifest(manifest), undefined, 2)}\n`);
  return manifest;
}
