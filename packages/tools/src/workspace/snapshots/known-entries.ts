import type { Entry } from "./snapshot-file.ts";
import { folderOf, nameOf } from "./tree-paths.ts";

const NONE: ReadonlyMap<string, Entry> = new Map();

/** The latest recorded states of a workspace's paths, by folder and name. */
export class KnownEntries {
  readonly #folders = new Map<string, Map<string, Entry>>();
  #size = 0;

  constructor(entries: Iterable<Entry>) {
    for (const entry of entries) this.set(entry);
  }

  get size(): number {
    return this.#size;
  }

  get(path: string): Entry | undefined {
    return this.#folders.get(folderOf(path))?.get(nameOf(path));
  }

  /** Returns the entries in a folder by their names. */
  in(folder: string): ReadonlyMap<string, Entry> {
    return this.#folders.get(folder) ?? NONE;
  }

  set(entry: Entry): void {
    const folder = folderOf(entry.path);
    const names = this.#folders.get(folder) ?? new Map<string, Entry>();
    this.#folders.set(folder, names);
    this.#size -= names.size;
    names.set(nameOf(entry.path), entry);
    this.#size += names.size;
  }

  delete(path: string): void {
    if (this.#folders.get(folderOf(path))?.delete(nameOf(path))) this.#size--;
  }

  *[Symbol.iterator](): Iterator<Entry> {
    for (const names of this.#folders.values()) yield* names.values();
  }
}
