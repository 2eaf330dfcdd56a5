import {
  closeSync,
  fdatasyncSync,
  globSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { basename, join } from "node:path";
import { parseJsonText } from "@banyan/core/shown";
import { noRights, type Rights, type RightsPlace } from "@banyan/core/stores";
import { rightsFrom } from "../log/rights-text.ts";
import { sqliteStoreError } from "./error.ts";
import { conversationFileName } from "./file-name.ts";

/** File names of conversations older than the permission files, which count as begun in this store. */
const EARLIER = "earlier.json";

/** File names of conversations that were begun or imported here, one per line. `- ` before a name marks a removal. */
const BEGUN = "begun.txt";

export interface RightsFile extends RightsPlace {
  read(): Rights | undefined;
  write(rights: Rights): void;
  /** Records the conversation as begun in this store, without permissions. Survives a power cut. */
  begin(): void;
}

/**
 * A user's permissions in conversations: `rights/<id>.json`, readable only by the user. Without that file, nothing is
 * allowed. If `rights/begun.txt` does not list a conversation, it was copied from elsewhere.
 */
export class RightsFiles {
  readonly #store: string;
  readonly #directory: string;
  #isThere = false;
  /** Read only for a conversation without a permission file. */
  #earlier: ReadonlySet<string> | undefined;

  /** Creates no file before the first read or write. */
  constructor(store: string) {
    this.#store = store;
    this.#directory = join(store, "rights");
  }

  /** Removes a conversation's permissions, because a new conversation may get its name. Throws a `StoreError`. */
  remove(id: string): void {
    const file = join(this.#directory, `${conversationFileName(id)}.json`);
    try {
      rmSync(file, { force: true });
      if (this.#hasBegun(conversationFileName(id)))
        addLine(join(this.#directory, BEGUN), `- ${conversationFileName(id)}`);
    } catch (error) {
      throw sqliteStoreError(error, file);
    }
  }

  of(id: string): RightsFile {
    const file = join(this.#directory, `${conversationFileName(id)}.json`);
    // True after `begin` without later permissions: no file needs to be read.
    let isFresh = false;
    return {
      read: () => (isFresh ? noRights : this.#read(file, id)),
      write: (rights) => {
        isFresh = false;
        this.#write(file, () => replaceRightsFile(file, JSON.stringify(rights)));
      },
      begin: () => {
        const begun = join(this.#directory, BEGUN);
        // Grants of a removed conversation with the same id do not carry over.
        this.#write(file, () => rmSync(file, { force: true }));
        this.#write(begun, () => addLine(begun, conversationFileName(id)));
        isFresh = true;
      },
    };
  }

  #write(file: string, write: () => void): void {
    this.#begin();
    try {
      write();
    } catch (error) {
      throw sqliteStoreError(error, file);
    }
  }

  #begin(): void {
    try {
      if (!this.#isThere && !statSync(this.#directory, { throwIfNoEntry: false }))
        makeRightsDirectory(this.#store, this.#directory);
      this.#isThere = true;
    } catch (error) {
      throw sqliteStoreError(error, this.#directory);
    }
  }

  #read(file: string, id: string): Rights | undefined {
    this.#begin();
    const text = readRightsFile(file);
    if (text !== undefined) return rightsFrom(text);
    return this.#hasBegun(conversationFileName(id)) ? noRights : undefined;
  }

  #hasBegun(name: string): boolean {
    this.#earlier ??= earlierIn(join(this.#directory, EARLIER));
    const begun = `\n${readRightsFile(join(this.#directory, BEGUN)) ?? ""}\n`;
    const [added, removed] = [begun.lastIndexOf(`\n${name}\n`), begun.lastIndexOf(`\n- ${name}\n`)];
    return removed > added ? false : added >= 0 || this.#earlier.has(name);
  }
}

/** Creates the directory atomically, with the names of all existing conversations, unless another process does. */
function makeRightsDirectory(store: string, rights: string): void {
  const made = mkdtempSync(`${rights}-`);
  const files = globSync("*.sqlite", { cwd: join(store, "conversations") });
  writeFileSync(join(made, EARLIER), JSON.stringify(files.map((name) => basename(name, ".sqlite"))), { mode: 0o600 });
  try {
    renameSync(made, rights);
  } catch (error) {
    rmSync(made, { recursive: true, force: true });
    if (!statSync(rights, { throwIfNoEntry: false })) throw error;
  }
}

/** A single write stays whole with concurrent writers. A crash may have cut the line before: start a new line. */
function addLine(file: string, line: string): void {
  const descriptor = openSync(file, "a", 0o600);
  try {
    writeSync(descriptor, `\n${line}\n`);
    fdatasyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Replaces a file atomically, even in a power cut. */
function replaceRightsFile(file: string, text: string): void {
  const fresh = `${file}.${process.pid}`;
  try {
    writeFileSync(fresh, text, { mode: 0o600, flush: true });
    renameSync(fresh, file);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}

function readRightsFile(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw sqliteStoreError(error, file);
  }
}

function earlierIn(file: string): ReadonlySet<string> {
  const names = parseJsonText(readRightsFile(file) ?? "");
  return new Set(Array.isArray(names) ? names.filter((name) => typeof name === "string") : []);
}
