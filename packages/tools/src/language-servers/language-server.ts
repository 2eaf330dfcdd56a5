import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { isJsonRecord } from "@banyan/core/shown";
import type { ProgramLaunch } from "../sandbox/find-program.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { RunningCommands } from "../workspace/commands/process-family.ts";
import type { ServerConnection } from "./connection.ts";
import type { ServerCommand } from "./find-server.ts";
import { type CheckedFile, type FileProblem, pathOfUri, readProblems } from "./problems.ts";
import type { ServerKind } from "./server-table.ts";
import { SilenceError } from "./silence.ts";

/** Milliseconds for an answer about one file, even while nobody waits for it. */
const LONGEST_CHECK = 30_000;
/** Milliseconds without another report after which published problems count as complete. */
const SETTLE = 150;
/** Milliseconds for a first report about an opened file, and for a report after a change: some servers only report news. */
const FIRST_REPORT = 10_000;
const NEXT_REPORT = 1_500;
const MOST_RESTARTS = 3;
/** Checks without an answer, one after the other, after which a server is given up. */
const MOST_SILENCES = 3;
/** The server asks to repeat a request: `ContentModified` and `ServerCancelled` of the protocol. */
const AGAIN = [-32_801, -32_802];
const MOST_REPEATS = 5;
const REPEAT_PAUSE = 100;
/** Files that stay open at the server, least recently used first. */
const MOST_OPEN = 20;
/** Files whose pushed problems are kept. */
const MOST_PUSHED = 2_000;

/** The folder, sandbox and environment of a language server. */
export interface ServerSurroundings {
  /** The absolute path of the folder, without links. */
  readonly root: string;
  readonly sandbox: Pick<Sandbox, "wrap">;
  readonly environment: Readonly<Record<string, string>>;
  readonly running: RunningCommands;
  /** Called once if the server cannot run any more. `why`: the end of a sentence. */
  gaveUp?(server: string, why: string): void;
}

interface OpenDocument {
  readonly text: string;
  readonly version: number;
  /** True if the server has seen no earlier text of the file. */
  readonly isNew: boolean;
  pulled: readonly FileProblem[];
}

/**
 * Runs a language server in a folder. The program starts with the first file, in the sandbox, and restarts at most three
 * times. If the program cannot work at all, the next program of the same kind is tried.
 */
export class LanguageServer {
  readonly kind: ServerKind;
  /** The programs to try. A program that failed before any worked is removed. */
  #commands: readonly ServerCommand[];
  readonly #surroundings: ServerSurroundings;
  readonly #documents = new Map<string, OpenDocument>();
  /** `after`: the newest version, of any file, that the server had seen before. */
  readonly #pushed = new Map<
    string,
    { problems: readonly FileProblem[]; version: number | undefined; after: number }
  >();
  readonly #waiting = new Set<() => void>();
  #opening: Promise<ServerConnection> | undefined;
  /** The last started connection. */
  #connection: ServerConnection | undefined;
  /** True after a program of the kind has answered. */
  #hasWorked = false;
  #starts = 0;
  #versions = 0;
  #isWorking = false;
  #isClosed = false;
  #silences = 0;
  /** The time of the last pushed report. */
  #published = 0;
  /** Counts the requests of the server to ask again about all files. */
  refreshes = 0;
  /** Why the server does not run; the end of a sentence. */
  problem: string | undefined;

  constructor(kind: ServerKind, commands: readonly ServerCommand[], surroundings: ServerSurroundings) {
    this.kind = kind;
    this.#commands = commands;
    this.#surroundings = surroundings;
  }

  /** True after the server failed too often. It does not start again. */
  get isGivenUp(): boolean {
    const isOut = this.#commands.length === 0 || this.#starts > MOST_RESTARTS;
    return this.#isClosed || (this.#opening === undefined && isOut);
  }

  /** True while a program runs that has answered. */
  get isRunning(): boolean {
    return this.#hasWorked && this.#opening !== undefined;
  }

  /** True while the server reports work on the whole project. */
  get isWorking(): boolean {
    return this.#isWorking;
  }

  /** Paths of all files about which the server has reported problems or has answered. */
  get paths(): readonly string[] {
    return [...new Set([...this.#documents.keys(), ...this.#pushed.keys()])];
  }

  /** Paths of the files whose text the server was shown. */
  get openPaths(): readonly string[] {
    return [...this.#documents.keys()];
  }

  /** The last known problems of a file. */
  checked(path: string): CheckedFile {
    const document = this.#documents.get(path);
    const pushed = this.#pushed.get(path)?.problems ?? [];
    const seen = new Set<string>();
    const problems = [...(document?.pulled ?? []), ...pushed].filter(({ line, severity, text }) => {
      const key = `${line} ${severity} ${text}`;
      return !seen.has(key) && seen.add(key);
    });
    return { text: document?.text, problems };
  }

  /** Shows the server a text as the content of a file. Rejects if the server cannot run. */
  async show(path: string, text: string): Promise<void> {
    const connection = await this.#open();
    const known = this.#documents.get(path);
    if (known?.text === text) return;
    const version = ++this.#versions;
    const uri = this.#uriOf(path);
    if (known === undefined) {
      const languageId = this.kind.files[extensionOf(path)] ?? "plaintext";
      connection.notify("textDocument/didOpen", { textDocument: { uri, languageId, version, text } });
    } else {
      connection.notify("textDocument/didChange", { textDocument: { uri, version }, contentChanges: [{ text }] });
    }
    this.#documents.delete(path);
    this.#documents.set(path, { text, version, isNew: known === undefined, pulled: known?.pulled ?? [] });
    for (const oldest of [...this.#documents.keys()].slice(0, -MOST_OPEN)) this.#forget(connection, oldest);
  }

  /** Lets the server forget the shown text of a file. */
  async hide(path: string): Promise<void> {
    const connection = await this.#open();
    if (this.#documents.has(path)) this.#forget(connection, path);
  }

  /** Tells the server that files on the disk changed. */
  async saved(
    changes: readonly { readonly path: string; readonly kind: "created" | "changed" | "deleted" }[],
  ): Promise<void> {
    const connection = await this.#open();
    const types = { created: 1, changed: 2, deleted: 3 };
    connection.notify("workspace/didChangeWatchedFiles", {
      changes: changes.map(({ path, kind }) => ({ uri: this.#uriOf(path), type: types[kind] })),
    });
    for (const { path, kind } of changes) {
      if (!this.#documents.has(path)) continue;
      if (kind === "deleted") this.#forget(connection, path);
      else connection.notify("textDocument/didSave", { textDocument: { uri: this.#uriOf(path) } });
    }
  }

  /**
   * Waits until the problems of the shown text of a file are known. Resolves with false if the server works, but reports
   * nothing about the text: its earlier report may still be right. Rejects if the server is silent or ends.
   */
  async check(path: string): Promise<boolean> {
    const connection = await this.#open();
    const document = this.#documents.get(path);
    if (!document) return true;
    try {
      if (connection.pulls) await this.#pull(path, document, connection);
      const isAnswered = connection.pulls || (await this.#awaitReport(path, document, connection));
      this.#silences = 0;
      return isAnswered;
    } catch (error) {
      if (error instanceof SilenceError && ++this.#silences >= MOST_SILENCES) {
        this.problem = error.message;
        this.#commands = [];
        this.#opening = undefined;
        this.#reportGivenUp();
        await connection.close();
      }
      throw error;
    }
  }

  async #pull(path: string, document: OpenDocument, connection: ServerConnection): Promise<void> {
    const textDocument = { uri: this.#uriOf(path) };
    for (let repeats = 0; ; repeats += 1) {
      try {
        const report = await connection.request("textDocument/diagnostic", { textDocument }, LONGEST_CHECK);
        if (isJsonRecord(report) && report.kind === "full") document.pulled = readProblems(path, report.items);
        return;
      } catch (error) {
        const code = error instanceof Error && "code" in error ? Number(error.code) : 0;
        if (!AGAIN.includes(code) || repeats >= MOST_REPEATS) throw error;
        await sleep(REPEAT_PAUSE);
      }
    }
  }

  /** For a server that publishes problems instead of answering requests, sometimes in several parts. */
  async #awaitReport(path: string, document: OpenDocument, connection: ServerConnection): Promise<boolean> {
    const isReported = () => this.#isReported(path, document);
    if (!isReported()) {
      const textDocument = { uri: this.#uriOf(path) };
      // Any answer, even a refusal, shows that the server works.
      await connection.request("textDocument/documentSymbol", { textDocument }, LONGEST_CHECK).catch((error) => {
        if (error instanceof SilenceError || connection.isOver) throw error;
      });
    }
    if (!(await this.#until(isReported, document.isNew ? FIRST_REPORT : NEXT_REPORT, connection))) return false;
    await this.#until(() => performance.now() - this.#published >= SETTLE, LONGEST_CHECK, connection);
    return true;
  }

  #isReported(path: string, document: OpenDocument): boolean {
    const report = this.#pushed.get(path);
    if (this.#documents.get(path) !== document) return true;
    return (
      report !== undefined &&
      report.after >= document.version &&
      (report.version ?? document.version) >= document.version
    );
  }

  /**
   * Waits until the server reports no more work on the project, and has reported about the shown text of a file; at most
   * `longest` milliseconds, and not once `isInVain` is true. Rejects if the server ends.
   */
  async idle(longest: number, path?: string, isInVain = () => false): Promise<void> {
    const connection = await this.#open();
    const document = path === undefined || connection.pulls ? undefined : this.#documents.get(path);
    const isIdle = () =>
      !this.#isWorking && (path === undefined || document === undefined || this.#isReported(path, document));
    await this.#until(() => isIdle() || isInVain(), longest, connection);
  }

  /** Waits for a condition at most `longest` milliseconds. Rejects if the server ends. */
  async until(isTrue: () => boolean, longest: number): Promise<void> {
    await this.#until(isTrue, longest, await this.#open());
  }

  /** Asks the server about a place in a shown file. Rejects if the server refuses, is silent too long, or ends. */
  async request(path: string, method: string, params: object, longest: number): Promise<unknown> {
    const textDocument = { uri: this.#uriOf(path) };
    return (await this.#open()).request(method, { textDocument, ...params }, longest);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#connection?.close();
  }

  #open(): Promise<ServerConnection> {
    if (this.isGivenUp) return Promise.reject(new Error(this.problem ?? "it was closed"));
    this.#opening ??= this.#begin();
    return this.#opening;
  }

  async #begin(): Promise<ServerConnection> {
    this.#starts += 1;
    try {
      return await this.#start();
    } catch (error) {
      this.#opening = undefined;
      this.#reportGivenUp();
      throw error;
    }
  }

  #reportGivenUp(): void {
    if (this.isGivenUp && !this.#isClosed) this.#surroundings.gaveUp?.(this.kind.name, this.problem ?? "it has ended");
  }

  /** Starts the first program that works. */
  async #start(): Promise<ServerConnection> {
    for (;;) {
      const [command, ...others] = this.#commands;
      if (!command) throw new Error(this.problem ?? "there is no program");
      try {
        return await this.#startProgram(command);
      } catch (error) {
        if (this.#isClosed || this.#hasWorked) throw error;
        this.#commands = others;
      }
    }
  }

  async #startProgram(command: ServerCommand): Promise<ServerConnection> {
    const { ServerConnection } = await import("./connection.ts");
    const { root, sandbox, environment, running } = this.#surroundings;
    const launch = {
      ...command,
      environment,
      directory: root,
      wrap: (program: ProgramLaunch) => sandbox.wrap(program),
    };
    const connection: ServerConnection = new ServerConnection(launch, running, {
      published: (params) => this.#publish(params),
      working: (isWorking) => {
        this.#isWorking = isWorking;
        this.wake();
      },
      refresh: () => {
        this.refreshes += 1;
      },
      ended: (why) => {
        this.problem = why;
        this.#isWorking = false;
        this.#documents.clear();
        this.#pushed.clear();
        if (this.#hasWorked && connection === this.#connection) {
          this.#opening = undefined;
          this.#reportGivenUp();
        }
        this.wake();
      },
    });
    this.#connection = connection;
    if (this.#isClosed) await connection.close();
    await connection.open(root, this.kind.options);
    this.#hasWorked = true;
    return connection;
  }

  #publish(params: unknown): void {
    if (!isJsonRecord(params)) return;
    const path = pathOfUri(this.#surroundings.root, params.uri);
    if (path === undefined) return;
    const version = typeof params.version === "number" ? params.version : undefined;
    this.#pushed.delete(path);
    this.#pushed.set(path, { problems: readProblems(path, params.diagnostics), version, after: this.#versions });
    this.#published = performance.now();
    for (const oldest of [...this.#pushed.keys()].slice(0, Math.max(0, this.#pushed.size - MOST_PUSHED)))
      this.#pushed.delete(oldest);
    this.wake();
  }

  /** Waits for a condition at most `longest` milliseconds. Returns whether it holds. Rejects if the connection ends. */
  async #until(isTrue: () => boolean, longest: number, connection: ServerConnection): Promise<boolean> {
    const until = performance.now() + longest;
    while (!isTrue()) {
      const left = until - performance.now();
      if (left <= 0) return false;
      if (connection.isOver) throw new Error(this.problem ?? "it has ended");
      await this.#news(Math.min(left, SETTLE));
    }
    return true;
  }

  #news(longest: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, longest);
    this.#waiting.add(resolve);
    return promise.finally(() => {
      clearTimeout(timer);
      this.#waiting.delete(resolve);
    });
  }

  /** Lets all that wait look again. */
  wake(): void {
    for (const wake of this.#waiting) wake();
  }

  #forget(connection: ServerConnection, path: string): void {
    connection.notify("textDocument/didClose", { textDocument: { uri: this.#uriOf(path) } });
    this.#documents.delete(path);
    this.#pushed.delete(path);
  }

  #uriOf(path: string): string {
    return pathToFileURL(join(this.#surroundings.root, path)).href;
  }
}

/** Returns the ending of a file's name that tells its language, in lower case. */
export function extensionOf(path: string): string {
  return /\.[^./]+$/.exec(path)?.[0].toLowerCase() ?? "";
}
