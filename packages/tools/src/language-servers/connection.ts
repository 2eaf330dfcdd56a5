import { pathToFileURL } from "node:url";
import { errorMessage, isJsonRecord, type JsonRecord } from "@banyan/core/shown";
import {
  AbstractMessageWriter,
  CancellationTokenSource,
  createProtocolConnection,
  type Message,
  type MessageWriter,
  type ProtocolConnection,
} from "vscode-languageserver-protocol/node";
import { Journal } from "../workspace/commands/journal.ts";
import { type PipedLaunch, PipedProgram } from "../workspace/commands/piped-program.ts";
import { familyMemory, type RunningCommands } from "../workspace/commands/process-family.ts";
import { BoundedReader } from "./message-reader.ts";
import { SilenceError } from "./silence.ts";

/** Milliseconds for the first exchange. Some servers load a whole project before they answer. */
const LONGEST_START = 30_000;
/** Maximum bytes that wait for a server that does not read its input. */
const MOST_UNREAD = 32 * 1024 * 1024;
/** Maximum bytes of memory of a server with its child processes, and milliseconds between two looks. */
const MOST_MEMORY = 4 * 1024 ** 3;
const MEMORY_PAUSE = 10_000;

/** Receives messages that a language server sends without being asked. */
export interface ServerListener {
  /** `params` of `textDocument/publishDiagnostics`, unchecked. */
  published(params: unknown): void;
  /** True while the server reports work, such as a check of the whole project. */
  working(isWorking: boolean): void;
  /** The server asks to be asked again about all files. */
  refresh(): void;
  /** The server has ended, or broke the protocol. `why` is the end of a sentence. */
  ended(why: string): void;
}

/** One run of a language server's program. No answer has been checked. */
export class ServerConnection {
  readonly #program: PipedProgram;
  readonly #connection: ProtocolConnection;
  readonly #listener: ServerListener;
  readonly #tasks = new Set<unknown>();
  readonly #journal = new Journal();
  #watch: NodeJS.Timeout | undefined;
  #isOver = false;
  /** The server answers requests for the problems of a file. */
  pulls = false;
  capabilities: JsonRecord = {};

  constructor(launch: PipedLaunch, running: RunningCommands, listener: ServerListener) {
    this.#listener = listener;
    const reader = new BoundedReader((why) => this.#fail(why));
    this.#program = new PipedProgram(launch, running, {
      output: (bytes) => reader.push(bytes),
      errorOutput: (bytes) => this.#journal.push(bytes.toString("utf8")),
      failed: (error) => this.#fail(error.message),
      exited: (how) => this.#fail(how),
      closed: () => this.#connection.dispose(),
    });
    const writer = new BoundedWriter(this.#program, () => this.#fail("it does not read its input"));
    this.#connection = createProtocolConnection(reader, writer);
    this.#answerRequests();
  }

  /** True after the server has ended or was given up. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Starts the program and exchanges abilities. Rejects with the reason if that fails. */
  async open(root: string, options: unknown): Promise<void> {
    try {
      await this.#program.start();
      if (this.#isOver) {
        await this.#program.close();
        throw new Error("it was closed");
      }
      this.#watch = setInterval(() => this.#checkMemory(), MEMORY_PAUSE).unref();
      this.#connection.listen();
      const uri = pathToFileURL(root).href;
      const answer = await this.request("initialize", initializeParams(uri, options), LONGEST_START);
      const capabilities = isJsonRecord(answer) ? answer.capabilities : undefined;
      this.capabilities = isJsonRecord(capabilities) ? capabilities : {};
      this.pulls ||= isJsonRecord(this.capabilities.diagnosticProvider);
      this.notify("initialized", {});
    } catch (error) {
      this.#fail(errorMessage(error));
      throw error;
    }
  }

  /** Resolves with the unchecked result. Rejects if the server refuses, ends, or is silent for `longest` milliseconds. */
  async request(method: string, params: object, longest: number): Promise<unknown> {
    const source = new CancellationTokenSource();
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      source.cancel();
      late.reject(new SilenceError(`it did not answer ${method} within ${longest} ms`));
    }, longest);
    try {
      return await Promise.race([this.#connection.sendRequest<unknown>(method, params, source.token), late.promise]);
    } finally {
      clearTimeout(timer);
      source.dispose();
    }
  }

  notify(method: string, params: object): void {
    if (this.#isOver) return;
    // A failed write is followed by the end of the program.
    this.#connection.sendNotification(method, params).catch(() => {});
  }

  async close(): Promise<void> {
    this.#isOver = true;
    clearInterval(this.#watch);
    await this.#program.close();
  }

  #answerRequests(): void {
    const connection = this.#connection;
    connection.onNotification("textDocument/publishDiagnostics", (params: unknown) => this.#listener.published(params));
    connection.onNotification("$/progress", (params: unknown) => this.#progress(params));
    connection.onRequest("window/workDoneProgress/create", () => null);
    connection.onRequest("client/unregisterCapability", () => null);
    connection.onRequest("client/registerCapability", (params: unknown) => {
      const all = isJsonRecord(params) && Array.isArray(params.registrations) ? params.registrations : [];
      if (all.some((one) => isJsonRecord(one) && one.method === "textDocument/diagnostic")) this.pulls = true;
      return null;
    });
    connection.onRequest("workspace/configuration", (params: unknown) => {
      const items = isJsonRecord(params) && Array.isArray(params.items) ? params.items : [];
      return items.slice(0, 1_000).map(() => null);
    });
    connection.onRequest("workspace/diagnostic/refresh", () => {
      this.#listener.refresh();
      return null;
    });
    // The reader and the program report errors themselves.
    connection.onError(() => {});
  }

  #progress(params: unknown): void {
    if (!isJsonRecord(params) || !isJsonRecord(params.value)) return;
    const { token, value } = params;
    if (value.kind === "begin" && this.#tasks.size < 100) this.#tasks.add(token);
    if (value.kind === "end") this.#tasks.delete(token);
    this.#listener.working(this.#tasks.size > 0);
  }

  #checkMemory(): void {
    const { family } = this.#program;
    const bytes = family === undefined ? 0 : familyMemory(family);
    if (bytes > MOST_MEMORY) this.#fail(`it needs more than ${MOST_MEMORY / 1024 ** 3} GiB of memory`);
  }

  #fail(why: string): void {
    if (this.#isOver) return;
    const { last } = this.#journal;
    // The listener learns how the program ended; nothing else is to be done if ending it fails.
    this.close().catch(() => {});
    this.#connection.dispose();
    this.#listener.ended(last === undefined ? why : `${why}; its last output: ${last}`);
  }
}

/** Writes messages, and gives up a server that does not read them. */
class BoundedWriter extends AbstractMessageWriter implements MessageWriter {
  readonly #program: PipedProgram;
  readonly #full: () => void;

  constructor(program: PipedProgram, full: () => void) {
    super();
    this.#program = program;
    this.#full = full;
  }

  async write(message: Message): Promise<void> {
    const { input } = this.#program;
    if (!input?.writable) return;
    const content = Buffer.from(JSON.stringify(message), "utf8");
    if (input.writableLength + content.length > MOST_UNREAD) {
      this.#full();
      return;
    }
    input.write(Buffer.concat([Buffer.from(`Content-Length: ${content.length}\r\n\r\n`), content]));
  }

  end(): void {}
}

function initializeParams(uri: string, options: unknown): object {
  return {
    processId: null,
    clientInfo: { name: "banyan" },
    rootUri: uri,
    workspaceFolders: [{ uri, name: "workspace" }],
    ...(options !== undefined && { initializationOptions: options }),
    capabilities: {
      general: { positionEncodings: ["utf-16"] },
      window: { workDoneProgress: true },
      workspace: {
        configuration: true,
        workspaceFolders: true,
        didChangeWatchedFiles: { dynamicRegistration: false },
        workspaceEdit: { documentChanges: true },
        diagnostics: { refreshSupport: true },
      },
      textDocument: {
        synchronization: { didSave: true },
        publishDiagnostics: { versionSupport: true, relatedInformation: false },
        diagnostic: { dynamicRegistration: true, relatedDocumentSupport: true },
        definition: { linkSupport: true },
        references: {},
        hover: { contentFormat: ["plaintext", "markdown"] },
        rename: { prepareSupport: false },
        documentSymbol: { hierarchicalDocumentSymbolSupport: true },
      },
    },
  };
}
