import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  type Stats,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";

/** Returns everything that a rewind restores, by path: kind, mode, and content or target. */
export function treeOf(root: string, leaveOut: readonly string[] = [".git"]): Record<string, string> {
  const tree: Record<string, string> = {};
  const walk = (folder: string) => {
    for (const name of readdirSync(join(root, folder))) {
      if (leaveOut.includes(name)) continue;
      const path = join(folder, name);
      const stats = lstatSync(join(root, path));
      const mode = (stats.mode & 0o7777).toString(8);
      if (stats.isSymbolicLink()) tree[path] = `link ${readlinkSync(join(root, path))}`;
      else if (stats.isDirectory()) {
        tree[path] = `folder ${mode}`;
        walk(path);
      } else if (stats.isFile()) tree[path] = `file ${mode} ${readFileSync(join(root, path), "latin1")}`;
      else tree[path] = `special ${mode}`;
    }
  };
  walk("");
  return tree;
}

const NAMES = ["a", "b", "c", "sub", "deep", ".hidden", "with space", "é", "out.log"];
const path = fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
const text = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.integer({ min: 1, max: 300 }).map((lines) => "a line of text\n".repeat(lines)),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString("latin1")),
);

/** One change of a workspace. */
export const change = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant("write" as const), path, text }) },
  fc.record({ type: fc.constant("folder" as const), path }),
  { weight: 2, arbitrary: fc.record({ type: fc.constant("remove" as const), path }) },
  fc.record({ type: fc.constant("link" as const), path, to: fc.oneof(path, fc.constant("/nowhere")) }),
  fc.record({
    type: fc.constant("mode" as const),
    path,
    mode: fc.constantFrom(0o600, 0o644, 0o755, 0o444, 0o700, 0o555),
  }),
  fc.record({ type: fc.constant("rename" as const), path, to: path }),
);

export type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never;

/** Makes a change, like a program that removes what is in its way. */
export function make(root: string, each: Change): void {
  const at = join(root, each.path);
  switch (each.type) {
    case "write":
      clear(root, at, "file");
      writeFileSync(at, each.text, "latin1");
      return;
    case "folder":
      clear(root, at, "folder");
      mkdirSync(at, { recursive: true });
      return;
    case "remove":
      removeTree(at);
      return;
    case "link":
      clear(root, at, "none");
      symlinkSync(each.to, at);
      return;
    case "mode":
      if (statsOf(at)?.isSymbolicLink() === false) chmodSync(at, each.mode);
      return;
    case "rename": {
      const to = join(root, each.to);
      const stats = statsOf(at);
      if (!stats || `${each.to}/`.startsWith(`${each.path}/`) || `${each.path}/`.startsWith(`${each.to}/`)) return;
      clear(root, to, "none");
      if (statsOf(at)) renameSync(at, to);
    }
  }
}

/** Makes room at a path, and folders around it. */
function clear(root: string, at: string, kept: "file" | "folder" | "none"): void {
  for (let above = dirname(at); above.length > root.length; above = dirname(above)) {
    const stats = statsOf(above);
    if (stats && !stats.isDirectory()) removeTree(above);
  }
  mkdirSync(dirname(at), { recursive: true });
  const stats = statsOf(at);
  const isKept = (kept === "file" && stats?.isFile()) || (kept === "folder" && stats?.isDirectory());
  if (stats && !isKept) removeTree(at);
}

function removeTree(at: string): void {
  if (statsOf(dirname(at))?.isDirectory()) rmSync(at, { recursive: true, force: true });
}

/** Undefined for a missing path, also below a file. */
function statsOf(at: string): Stats | undefined {
  try {
    return lstatSync(at);
  } catch {
    return undefined;
  }
}
