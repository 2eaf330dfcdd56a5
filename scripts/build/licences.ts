import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Writes the licences of all packages that the files belong to, except our own, into a file in `dist`. */
export function writeLicences(files: readonly string[], dist: string): void {
  const folders = new Set(files.flatMap((file) => packageFolder(file) ?? []));
  const licences = [...folders].map(licenceOf).toSorted();
  if (licences.length === 0) return;
  const text = [...new Set(licences)].join(`\n\n${"-".repeat(80)}\n\n`);
  writeFileSync(join(dist, "THIRD-PARTY-LICENCES.txt"), `This package contains code of these packages.\n\n${text}\n`);
}

/** Returns the folder of the installed package that a file belongs to. */
function packageFolder(file: string): string | undefined {
  const [folder] = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file) ?? [];
  return folder;
}

/** Throws for a package that states no licence. */
function licenceOf(folder: string): string {
  const { name, version, license, author }: Record<string, unknown> = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8"),
  );
  const texts = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
    .map((file) => readFileSync(join(folder, file), "utf8").trim());
  if (texts.length === 0 && typeof license !== "string") throw new Error(`${folder} states no licence.`);
  const by = typeof author === "string" ? author : ((author as { name?: string } | undefined)?.name ?? "");
  return [`${name} ${version} (${license ?? "see below"})`, ...(texts.length > 0 ? texts : [by])].join("\n\n").trim();
}
