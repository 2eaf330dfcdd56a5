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

/** Writes the published modules of a package into `dist`. Its dependencies stay imports. */
export async function writeModules(folder: string, dist: string): Promise<void> {
  const manifest = readManifest(folder);
  await bundle(folder, entriesOf(manifest), { dist, named: uncheckedOf });
  const exported = Object.keys(manifest.exports ?? {});
  if (exported.length > 0) writeFileSync(join(dist, NODE_CHECK), nodeCheck(manifest));
  for (const path of exported) writeFileSync(join(dist, `${checkedOf(path)}.js`), checkedModule(moduleOf(path)));
  writeCommands(manifest, dist);
  writeManifest(publishedManifest(manifest), dist);
}

/** Writes the commands of a package, which check Node first. */
export function writeCommands(manifest: Manifest, dist: string): void {
  for (const command of Object.keys(manifest.bin ?? {})) {
    const file = join(dist, `${command}.js`);
    writeFileSync(file, checkedCommand(manifest, programOf(command)));
    chmodSync(file, 0o755);
  }
}

/** Writes the `package.json` to publish. */
export function writeManifest(manifest: object, dist: string): void {
  writeFileSync(join(dist, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
}

/** Reads the `package.json` of a package in packages/. */
export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}
