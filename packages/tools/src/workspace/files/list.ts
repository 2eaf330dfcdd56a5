import { lstat, readlink } from "node:fs/promises";
import { defineTool, type Tool } from "@banyan/core";
import { z } from "zod";
import { explainPathError, WorkspaceError } from "./error.ts";
import { rulesDownTo } from "./git-ignore.ts";
import { adviceOnPath, shownPath } from "./named-path.ts";
import { openDirectory } from "./open-path.ts";
import { pathArgument } from "./path-argument.ts";
import { locate, specialKind, type Workspace } from "./paths.ts";
import { shortNameList } from "./plain-text.ts";
import { type SkippedEntry, type WalkEntry, walk } from "./walk.ts";

const MOST_ENTRIES = 1000;
const MOST_BYTES = 60_000;
/** Counting stops here; the result then says "more". */
const MOST_COUNTED = 20_000;

const inputOf = (workspace: Workspace) =>
  z.object({
    path: pathArgument(workspace)
      .overwrite((path) => path || ".")
      .optional()
      .describe("Default: the workspace."),
    depth: z.int().min(1).max(20).optional().describe("Levels. Default 1."),
  });

/**
 * Returns the tool `list {path, depth?}`: the entries of a folder.
 * @example new Agent({ model, tools: [listTool(workspace)] });
 */
export function listTool(workspace: Workspace): Tool {
  return defineTool({
    name: "list",
    description:
      "Lists a folder: one path per line. Folders end in `/`; files have their size in bytes. " +
      `Leaves out files that .gitignore excludes. At most ${MOST_ENTRIES} entries.`,
    input: inputOf(workspace),
    brief: "Lists a folder.",
    effects: "none",
    eager: true,
    about: ({ path = "." }) => ({
      paths: [{ path, access: "read" }],
      looksAt: { one: "folder", several: "folders" },
    }),
    async execute({ path = ".", depth = 1 }, context) {
      const folder = await locate(workspace, path);
      if (folder.kind === "missing")
        throw new WorkspaceError(
          "missing",
          `There is no folder ${folder.path}. ${adviceOnPath(workspace.root, folder.path) || "List the folder above it."}`,
        );
      if (folder.kind !== "directory")
        throw new WorkspaceError("kind", `${folder.path} is ${folder.what}, not a folder. Use read for a file.`);
      try {
        await using directory = await openDirectory(workspace, folder.real);
        const rules = await rulesDownTo(workspace, folder.path);
        const listing = new Listing();
        const entries = walk(workspace, directory, folder.path, {
          depth,
          rules,
          signal: context.signal,
          onLeftOut: (left) => listing.leftOut(left),
        });
        for await (const entry of entries) if (!(await listing.take(entry))) break;
        return listing.text(folder.path);
      } catch (error) {
        throw explainPathError(folder.path, error);
      }
    },
  });
}

class Listing {
  #ignored = 0;
  readonly #unreadable: string[] = [];
  readonly #lines: string[] = [];
  #bytes = 0;
  #count = 0;
  #isFull = false;

  leftOut({ path, why }: SkippedEntry): void {
    if (why === "ignored") this.#ignored += 1;
    else this.#unreadable.push(path);
  }

  async take(entry: WalkEntry): Promise<boolean> {
    this.#count += 1;
    if (!this.#isFull) {
      const line = `${await describeListedEntry(entry)}\n`;
      this.#bytes += Buffer.byteLength(line);
      this.#isFull = this.#lines.length === MOST_ENTRIES || this.#bytes > MOST_BYTES;
      if (!this.#isFull) this.#lines.push(line);
    }
    return this.#count < MOST_COUNTED;
  }

  text(path: string): string {
    const notes: string[] = [];
    if (this.#count === 0) notes.push(`[${path} is empty]`);
    if (this.#lines.length < this.#count) {
      const all = this.#count < MOST_COUNTED ? String(this.#count) : `more than ${MOST_COUNTED}`;
      notes.push(
        `[the first ${this.#lines.length} of ${all} entries; list a folder in it, or with a smaller depth, for the others]`,
      );
    }
    if (this.#ignored > 0) notes.push(`[left out because of .gitignore: ${this.#ignored}]`);
    if (this.#unreadable.length > 0) notes.push(`[cannot be opened: ${shortNameList(this.#unreadable)}]`);
    return this.#lines.join("") + notes.map((note) => `${note}\n`).join("");
  }
}

async function describeListedEntry(entry: WalkEntry): Promise<string> {
  const path = shownPath(entry.path);
  if (entry.kind === "directory") return `${path}/`;
  const at = `${entry.directory.at}/${entry.name}`;
  try {
    if (entry.kind === "link") return `${path} -> ${shownPath(await readlink(at))}`;
    const stats = await lstat(at);
    return entry.kind === "file" ? `${path} (${stats.size} bytes)` : `${path} (${specialKind(stats)})`;
  } catch {
    // The file was removed meanwhile.
    return `${path} (gone)`;
  }
}
