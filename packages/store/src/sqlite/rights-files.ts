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
import { noRights, type Rights, type RightsPlace } from "@banyan/core/stores";
import { parseJsonOrNothing, rightsFrom } from "../log/rights-text.ts";
import { sqliteStoreError } from "./error.ts";
import { conversationFileName } from "./file-name.ts";

/** The file names of conversations older than the permission files. Such conversations count as this store's own. */
const EARLIER = "earlier.json";

/**
 * The file names of conversations that were begun or imported here, one per line. A line with `- ` before the name
 * marks a removal, and the last line of a name counts. All conversations share this file, because a separate file for
 * each would take longer than all other storage work of an answer.
 */
const BEGUN = "begun.txt";

/** The permissions of one conversation. */
export interface RightsFile extends RightsPlace {
  read(): Rights | undefined;
  write(rights: Rights): void;
  /** Records the conversation as this store's own, without permissions. Survives a power cut. */
  begin(): void;
}

/**
 * A user's permissions in a conversation: `rights/<id>.json`, readable only by its owner. Without that file, nothing is
 * allowed. A conversation whose name is also missing in `rights/begun.txt` was copied into the store by another program.
 */
export class RightsFiles {
  readonly #store: string;
  readonly #directory: string;
  #isThere = false;
  /** Read when a conversation has no permission file. */
  #earlier: ReadonlySet<string> | undefined;

  /** `store` is the directory of the store. No file is created before the first read or write. */
  constructor(store: string) {
    this.#store = store;
    this.#directory = join(store, "rights");
  }

  /** Removes the permissions of a conversation, because a new conversation may get its name. Throws a `StoreError`. */
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

  /** Returns the permissions of a conversation. */
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

/** Creates the directory with the names of all existing conversations, atomically, unless another process does. */
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

/**
 * Appends a line in a single write, which the system keeps whole even with concurrent writers. A crash may have cut the
 * previous line, so the text starts with a line break.
 */
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
  const names = parseJsonOrNothing(readRightsFile(file) ?? "");
  return new Set(Array.isArray(names) ? names.filter((name) => typeof name === "string") : []);
}
