import { readFileSync } from "node:fs";
import { join } from "node:path";

const GITLINK = 0o160000;
const FIXED = 40;
const SHARED = "link";

/** Returns the submodule paths of a repository's index (`git help index-format`, versions 2 to 4), if readable. */
export function gitlinksIn(repository: string): string[] {
  try {
    const width = /objectformat\s*=\s*sha256/i.test(readGitConfig(repository)) ? 32 : 20;
    const index = readFileSync(join(repository, "index"));
    const { names, links, shared } = gitIndexEntries(index, width);
    if (shared === undefined) return links;
    // A split index: a second file has the other entries. An entry without a name replaces an entry of that file.
    const others = gitIndexEntries(readFileSync(join(repository, `sharedindex.${shared}`)), width);
    return [...links, ...(names.includes("") ? others.names : others.links)];
  } catch {
    return [];
  }
}

function readGitConfig(repository: string): string {
  try {
    const common = readFileSync(join(repository, "commondir"), "utf8").trimEnd();
    return readFileSync(join(repository, common, "config"), "utf8");
  } catch {
    return readFileSync(join(repository, "config"), "utf8");
  }
}

interface Entries {
  readonly names: string[];
  readonly links: string[];
  readonly shared: string | undefined;
}

function gitIndexEntries(index: Buffer, width: number): Entries {
  if (index.toString("latin1", 0, 4) !== "DIRC") throw new Error("This file is not a git index.");
  const version = index.readUInt32BE(4);
  const names: string[] = [];
  const links: string[] = [];
  let at = 12;
  let name: Buffer = Buffer.alloc(0);
  for (let left = index.readUInt32BE(8); left > 0; left--) {
    const mode = index.readUInt32BE(at + 24);
    const flags = index.readUInt16BE(at + FIXED + width);
    const isExtended = version >= 3 && (flags & 0x4000) !== 0;
    let from = at + FIXED + width + (isExtended ? 4 : 2);
    if (version >= 4) {
      const dropped = numberAt(index, from);
      from = dropped.end;
      const end = index.indexOf(0, from);
      name = Buffer.concat([name.subarray(0, name.length - dropped.value), index.subarray(from, end)]);
      at = end + 1;
    } else {
      const end = index.indexOf(0, from);
      name = index.subarray(from, end);
      // Each entry is padded with one to eight zero bytes to a multiple of eight.
      at += Math.ceil((end + 1 - at) / 8) * 8;
    }
    names.push(name.toString());
    if ((mode & 0o170000) === GITLINK) links.push(name.toString());
  }
  return { names, links, shared: sharedIn(index.subarray(at, index.length - width), width) };
}

/** Reads git's variable-width number: seven bits per byte, and 1 is added before each further byte. */
function numberAt(index: Buffer, from: number): { readonly value: number; readonly end: number } {
  let end = from;
  let byte = index.readUInt8(end++);
  let value = byte & 0x7f;
  while (byte & 0x80) {
    byte = index.readUInt8(end++);
    value = (value + 1) * 128 + (byte & 0x7f);
  }
  return { value, end };
}

function sharedIn(extensions: Buffer, width: number): string | undefined {
  for (let at = 0; at + 8 <= extensions.length; at += 8 + extensions.readUInt32BE(at + 4)) {
    if (extensions.toString("latin1", at, at + 4) !== SHARED) continue;
    const name = extensions.toString("hex", at + 8, at + 8 + width);
    return /^0+$/.test(name) ? undefined : name;
  }
  return undefined;
}
