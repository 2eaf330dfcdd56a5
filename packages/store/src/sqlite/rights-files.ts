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
import { parsed, rightsFrom } from "../rights-text.ts";
import { storeError } from "./error.ts";
import { fileNameOf } from "./file-name.ts";

/** The conversations, by the names of their files, that were there before rights were kept. They are this store's own. */
const EARLIER = "earlier.json";

/**
 * The conversations, by the names of their files, that were begun or brought in here: a line each, and a line with `- `
 * before the name for one that was removed; the last line about a name counts. One file for all: to make a file for each
 * took more time than all else that an answer costs a store.
 */
const BEGUN = "begun.txt";

/** Where the rights of one conversation are. */
export interface RightsFile extends RightsPlace {
  read(): Rights | undefined;
  write(rights: Rights): void;
  /** The conversation is one of this store's, and nothing is allowed yet; a power cut does not undo that. */
  begin(): void;
}

/**
 * What a person allowed in a conversation: `rights/<id>.json`, for its owner only. Nothing is allowed in one without that
 * file, and a conversation's file that `rights/begun.txt` does not name either was put there by somebody else.
 */
export class RightsFiles {
  readonly #store: string;
  readonly #directory: string;
  #isThere = false;
  /** Read when a conversation has no file of its own. */
  #earlier: ReadonlySet<string> | undefined;

  /** Beside the conversations of a store. Nothing is made before something is read or written. */
  constructor(store: string) {
    this.#store = store;
    this.#directory = join(store, "rights");
  }

  /** Forgets what was allowed in a conversation of this name: another one may get it. Throws `StoreError`. */
  remove(id: string): void {
    const file = join(this.#directory, `${fileNameOf(id)}.json`);
    try {
      rmSync(file, { force: true });
      if (this.#hasBegun(fileNameOf(id))) addLine(join(this.#directory, BEGUN), `- ${fileNameOf(id)}`);
    } catch (error) {
      throw storeError(error, file);
    }
  }

  /** Where those of a conversation are. */
  of(id: string): RightsFile {
    const file = join(this.#directory, `${fileNameOf(id)}.json`);
    // Begun just now, with nothing allowed since: what need not be looked up.
    let isFresh = false;
    return {
      read: () => (isFresh ? noRights : this.#read(file, id)),
      write: (rights) => {
        isFresh = false;
        this.#write(file, () => replaceFile(file, JSON.stringify(rights)));
      },
      begin: () => {
        const begun = join(this.#directory, BEGUN);
        // What was allowed in one of this name that was there before is not allowed in this one.
        this.#write(file, () => rmSync(file, { force: true }));
        this.#write(begun, () => addLine(begun, fileNameOf(id)));
        isFresh = true;
      },
    };
  }

  #write(file: string, write: () => void): void {
    this.#begin();
    try {
      write();
    } catch (error) {
      throw storeError(error, file);
    }
  }

  #begin(): void {
    try {
      if (!this.#isThere && !statSync(this.#directory, { throwIfNoEntry: false })) begin(this.#store, this.#directory);
      this.#isThere = true;
    } catch (error) {
      throw storeError(error, this.#directory);
    }
  }

  #read(file: string, id: string): Rights | undefined {
    this.#begin();
    const text = textIn(file);
    if (text !== undefined) return rightsFrom(text);
    return this.#hasBegun(fileNameOf(id)) ? noRights : undefined;
  }

  #hasBegun(name: string): boolean {
    this.#earlier ??= earlierIn(join(this.#directory, EARLIER));
    const begun = `\n${textIn(join(this.#directory, BEGUN)) ?? ""}\n`;
    const [added, removed] = [begun.lastIndexOf(`\n${name}\n`), begun.lastIndexOf(`\n- ${name}\n`)];
    return removed > added ? false : added >= 0 || this.#earlier.has(name);
  }
}

/** Makes the directory, with the names of the conversations that are there: all at once, or another process does. */
function begin(store: string, rights: string): void {
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
 * Adds a line in one write, which the system does as a whole also when others add theirs. The line before it may have been
 * cut by a crash: it ends here.
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

/** The new content is there as a whole or not at all, also after a power cut. */
function replaceFile(file: string, text: string): void {
  const fresh = `${file}.${process.pid}`;
  try {
    writeFileSync(fresh, text, { mode: 0o600, flush: true });
    renameSync(fresh, file);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}

function textIn(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw storeError(error, file);
  }
}

function earlierIn(file: string): ReadonlySet<string> {
  const names = parsed(textIn(file) ?? "");
  return new Set(Array.isArray(names) ? names.filter((name) => typeof name === "string") : []);
}
