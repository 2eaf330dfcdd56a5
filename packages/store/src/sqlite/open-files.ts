import { OpenDatabase, type ReadStatements } from "./connection.ts";

/** The open files of a store. Above `most`, closes the least recently used file until its next use. */
export class OpenFiles {
  readonly #most: number;
  /** The last used file comes last. */
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

/** A conversation's file that opens on use. */
export class LogFile {
  readonly path: string;
  readonly #files: OpenFiles;
  #connection: OpenDatabase | undefined;

  constructor(path: string, connection: OpenDatabase, files: OpenFiles) {
    this.path = path;
    this.#files = files;
    this.#connection = connection;
  }

  /** Valid until the next `await`. Throws SQLite's error if the file cannot be reopened. */
  get connection(): OpenDatabase {
    this.#connection ??= OpenDatabase.open(this.path);
    this.#files.used(this);
    return this.#connection;
  }

  /** True if the file is closed until its next use. */
  get isAtRest(): boolean {
    return this.#connection === undefined;
  }

  get reading(): ReadStatements {
    return this.connection.reading;
  }

  rest(): void {
    this.#connection?.close();
    this.#connection = undefined;
  }

  close(): void {
    this.#files.closed(this);
    this.rest();
  }
}
