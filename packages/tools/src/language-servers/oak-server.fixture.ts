import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/*
 * A language server for files of a small language: `bad NAME` is an error, `odd NAME` a warning, `has NAME` defines a name
 * for all files, and `uses NAME` is an error unless a file of the folder defines the name. The first argument is JSON.
 */
export interface OakOptions {
  /** Answers requests for problems. Without it, the server publishes problems. */
  readonly pulls?: boolean;
  /** Milliseconds before each report. */
  readonly delay?: number;
  /** Publishes a clean report at once, and the real one after this many milliseconds. */
  readonly late?: number;
  /** Publishes problems only if they changed. */
  readonly onlyChanges?: boolean;
  /** Adds this error to each report: the value of an environment variable. */
  readonly tells?: string;
  /** A file that gets a line at each start. */
  readonly starts?: string;
  /** A rename changes a file outside of the workspace. */
  readonly renamesElsewhere?: boolean;
  /** A text by which a test finds the process. */
  readonly mark?: string;
  readonly hostile?:
    | "mute"
    | "silent"
    | "deaf"
    | "floods"
    | "endless"
    | "malformed"
    | "huge"
    | "crashes"
    | "exits"
    | "ids"
    | "lies"
    | "refreshes"
    | "stubborn";
}

// biome-ignore lint/suspicious/noExplicitAny: the fixture trusts its client
type Message = { id?: number | string; method?: string; params?: any };

const told = JSON.parse(process.argv[2] ?? "{}") as OakOptions;
const { hostile } = told;
const texts = new Map<string, { text: string; version: number }>();
const published = new Map<string, string>();
let root = "";
if (told.starts !== undefined) appendFileSync(told.starts, "start\n");
let asked = 1_000;

function send(message: object): void {
  const content = JSON.stringify({ jsonrpc: "2.0", ...message });
  process.stdout.write(`Content-Length: ${Buffer.byteLength(content)}\r\n\r\n${content}`);
}

function textsInFolder(): string[] {
  const files = readdirSync(root).filter((name) => name.endsWith(".oak"));
  return files.map((name) => {
    const uri = pathToFileURL(join(root, name)).href;
    return texts.get(uri)?.text ?? readFileSync(join(root, name), "utf8");
  });
}

// biome-ignore lint/suspicious/noExplicitAny: the fixture trusts its client
function nameAt({ textDocument, position }: any): string {
  const line = texts.get(textDocument.uri)?.text.split("\n")[position.line] ?? "";
  return /^\w+/.exec(line.slice(position.character))?.[0] ?? "";
}

// biome-ignore lint/suspicious/noExplicitAny: the fixture trusts its client
function placesOf(params: any, words: RegExp) {
  const wanted = nameAt(params);
  const files = readdirSync(root).filter((name) => name.endsWith(".oak"));
  return files.flatMap((file) => {
    const uri = pathToFileURL(join(root, file)).href;
    const text = texts.get(uri)?.text ?? readFileSync(join(root, file), "utf8");
    return text.split("\n").flatMap((each, line) => {
      const [, word = "", name = ""] = /^(\w+) (\w+)/.exec(each) ?? [];
      if (name !== wanted || !words.test(word)) return [];
      const character = word.length + 1;
      return [{ uri, range: { start: { line, character }, end: { line, character: character + name.length } } }];
    });
  });
}

function problemsIn(text: string): object[] {
  const names = new Set(textsInFolder().flatMap((each) => [...each.matchAll(/^has (\w+)/gm)].map(([, name]) => name)));
  const found = text.split("\n").flatMap((line, at) => {
    const [, word, name] = /^(bad|odd|uses) (\w+)/.exec(line) ?? [];
    if (word === undefined || (word === "uses" && names.has(name ?? ""))) return [];
    const range = { start: { line: at, character: 0 }, end: { line: at, character: line.length } };
    const message = word === "uses" ? `${name} is not there` : `${name} is ${word}`;
    return [{ range, severity: word === "odd" ? 2 : 1, source: "oak", code: word, message }];
  });
  if (told.tells === undefined) return found;
  const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } };
  return [...found, { range, message: `${told.tells} is ${process.env[told.tells]}` }];
}

function publish(uri: string): void {
  const document = texts.get(uri);
  if (!document) return;
  const { version, text } = document;
  const params = { uri, version, diagnostics: problemsIn(text) };
  const content = JSON.stringify(params.diagnostics);
  if (told.onlyChanges && published.get(uri) === content) return;
  published.set(uri, content);
  send({ method: "textDocument/publishDiagnostics", params });
}

function publishAll(): void {
  if (told.late !== undefined)
    for (const [uri, { version }] of texts)
      send({ method: "textDocument/publishDiagnostics", params: { uri, version, diagnostics: [] } });
  const report = () => {
    for (const uri of texts.keys()) publish(uri);
  };
  const wait = told.late ?? told.delay;
  if (wait === undefined) report();
  else setTimeout(report, wait);
}

function misbehave(uri: string): boolean {
  switch (hostile) {
    case "silent":
      return true;
    case "floods":
      for (let at = 0; at < 30_000; at += 1) send({ method: "window/logMessage", params: { type: 3, message: "x" } });
      return true;
    case "endless":
      process.stdout.write(`Content-Length: 5\r\nX: ${"x".repeat(100_000)}`);
      return true;
    case "malformed":
      process.stdout.write("Hello!\r\n\r\nThis is no message.\r\n\r\n");
      return true;
    case "huge":
      process.stdout.write(`Content-Length: ${100 * 1024 * 1024}\r\n\r\n`);
      for (let at = 0; at < 100; at += 1) process.stdout.write("x".repeat(1024 * 1024));
      return true;
    case "crashes":
      return true;
    case "exits":
      process.exit(0);
      return true;
    case "lies": {
      const list = [
        null,
        7,
        {},
        { message: 1 },
        { message: "no range" },
        { message: "x", range: { start: { line: -1 } } },
      ];
      const range = { start: { line: 2 ** 60, character: 0 } };
      for (const other of [
        "file:///etc/passwd",
        "file:///%zz",
        "http://example.com/a.oak",
        7,
        null,
        `${uri}/../../../x`,
      ])
        send({
          method: "textDocument/publishDiagnostics",
          params: { uri: other, diagnostics: [{ message: "lie", range }] },
        });
      send({ method: "textDocument/publishDiagnostics", params: { uri, version: 2 ** 40, diagnostics: list } });
      send({ method: "textDocument/publishDiagnostics", params: null });
      send({ method: "$/progress", params: { token: 1, value: { kind: "begin" } } });
      send({ id: 1, method: "workspace/configuration", params: { items: "many" } });
      send({ id: 2, method: "workspace/applyEdit", params: { edit: { changes: { [uri]: [{ newText: "hacked" }] } } } });
      return false;
    }
    default:
      return false;
  }
}

function take({ id, method, params }: Message): void {
  if (hostile === "mute") return;
  switch (method) {
    case "initialize":
      root = fileURLToPath(params.rootUri);
      send({
        id: hostile === "ids" ? "another" : id,
        result: { capabilities: { textDocumentSync: 1, ...(told.pulls && { diagnosticProvider: {} }) } },
      });
      return;
    case "textDocument/didOpen":
    case "textDocument/didChange": {
      const { uri, version, text = params.contentChanges?.[0].text } = params.textDocument;
      if (hostile === "crashes") process.stderr.write("It fell from the tree.\n", () => process.exit(1));
      texts.set(uri, { text, version });
      if (misbehave(uri)) return;
      if (!told.pulls) publishAll();
      return;
    }
    case "textDocument/didClose":
      texts.delete(params.textDocument.uri);
      return;
    case "textDocument/diagnostic": {
      if (hostile === "silent") return;
      if (hostile === "refreshes") send({ id: asked++, method: "workspace/diagnostic/refresh" });
      const items = problemsIn(texts.get(params.textDocument.uri)?.text ?? "");
      setTimeout(() => send({ id, result: { kind: "full", items } }), told.delay ?? 0);
      return;
    }
    case "textDocument/definition":
      return send({ id, result: placesOf(params, /^has$/)[0] ?? null });
    case "textDocument/references":
      return send({ id, result: placesOf(params, /^(?:has|uses)$/) });
    case "textDocument/hover":
      return send({ id, result: { contents: { kind: "plaintext", value: `leaf of ${nameAt(params)}\u001b[31m` } } });
    case "textDocument/rename": {
      const edits = placesOf(params, /^(?:has|uses)$/).map(
        ({ uri, range }) => [uri, { range, newText: params.newName }] as const,
      );
      const changes = Object.fromEntries(
        edits.map(([uri]) => [uri, edits.flatMap((each) => (each[0] === uri ? [each[1]] : []))]),
      );
      return send({ id, result: { changes: told.renamesElsewhere ? { "file:///etc/passwd": [] } : changes } });
    }
    case "exit":
      if (hostile !== "stubborn") process.exit(0);
      return;
    default:
      if (id !== undefined && method !== undefined) send({ id, error: { code: -32601, message: "unknown method" } });
  }
}

if (hostile === "stubborn") process.on("SIGTERM", () => {});
// The interval keeps the server alive when its input ends.
if (hostile === "stubborn" || hostile === "deaf") setInterval(() => {}, 1_000);

let rest = Buffer.alloc(0);
if (hostile !== "deaf")
  process.stdin.on("data", (bytes: Buffer) => {
    rest = Buffer.concat([rest, bytes]);
    for (;;) {
      const end = rest.indexOf("\r\n\r\n");
      if (end === -1) return;
      const length = Number(/Content-Length: (\d+)/.exec(rest.toString("latin1", 0, end))?.[1]);
      if (rest.length < end + 4 + length) return;
      const content = rest.toString("utf8", end + 4, end + 4 + length);
      rest = rest.subarray(end + 4 + length);
      take(JSON.parse(content));
    }
  });
