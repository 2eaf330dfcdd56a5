import { OpenDatabase, type ReadStatements } from "./connection.ts";

/**
 * The files that are open now. When there are more than `most`, the one that was not used for longest is closed; it is
 * opened again when it is used next. Who may write is said in the file, and does not hang on its being open.
 */
export class OpenFiles {
  readonly #most: number;
  /** The one that was used last stands last. */
  readonly #open = new Set<LogFile>();

  constructor(most: number) {
    this.#most = most;
  }

  used(file: LogFile): void {
    this.#open.delete(file);
    this.#open.add(file);
    if (this.#open.size <= this.#most) return;
    for (const idle of this.#open) {
      this.#open.delete(idle);
      idle.rest();
      return;
    }
  }

  closed(file: LogFile): void {
    this.#open.delete(file);
  }
}

/** A conversation's file, open whenever it is used. */
export class LogFile {
  readonly path: string;
  readonly #files: OpenFiles;
  #connection: OpenDatabase | undefined;

  constructor(path: string, connection: OpenDatabase, files: OpenFiles) {
    this.path = path;
    this.#files = files;
    this.#connection = connection;
  }

  /** To be used at once, and asked for anew after a wait. Throws as SQLite does when the file cannot be opened again. */
  get connection(): OpenDatabase {
    this.#connection ??= OpenDatabase.open(this.path);
    this.#files.used(this);
    return this.#connection;
  }

  get reading(): ReadStatements {
    return this.connection.reading;
  }

  /** Closes it until it is used again. */
  rest(): void {
    this.#connection?.close();
    this.#connection = undefined;
  }

  close(): void {
    this.#files.closed(this);
    this.rest();
  }
}
