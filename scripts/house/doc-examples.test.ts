import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "rolldown/utils";
import { describe, expect, test } from "vitest";
import { ONE_CHECKER } from "../build/declarations.ts";
import { exportsOf } from "./exports.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

const GIVEN = `
import { readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { z } from "zod";
import { metrics, trace } from "@opentelemetry/api";
import { TracerProvider } from "@opentelemetry/sdk-trace";
import { Client } from "@banyan/client";
import type { Host } from "@banyan/host";
declare const host: Host;
declare const client: Client;
declare const token: string;
declare const workspace: import("@banyan/tools/workspace").Workspace;
declare const toolContext: import("@banyan/core").ToolContext;
declare const evaluation: import("@banyan/host/evaluation").Evaluation;
declare const frame: import("@banyan/protocol").Snapshot;
declare const toolCall: import("@banyan/core").Call;
declare const model: import("@banyan/core").ModelDriver;
declare const agent: import("@banyan/core").Agent;
declare const memory: import("@banyan/memory").ManagedMemory;
declare const languageModel: Parameters<typeof import("@banyan/core/ai-sdk").fromLanguageModel>[0];
declare const leaf: string;
declare const callId: string;
declare function test(name: string, run: () => unknown): void;
declare const messages: readonly import("@banyan/core/drivers").PromptMessage[];
declare const signal: AbortSignal;
declare const digest: string;
declare const diff: string;
declare function restore(file: string): Promise<void>;
declare function redacting(): { push(text: string): string; end(): string };
declare const turn: import("@banyan/core").Turn;
declare const session: import("@banyan/core").Session;
declare const store: import("@banyan/core").Store;
declare const ctx: { readonly storage: import("@banyan/store/durable-object").DurableStorage };
declare const tool: import("@banyan/core").Tool;
declare const tools: readonly import("@banyan/core").Tool[];
declare function saved(message: import("@banyan/core").Message): Promise<void>;
declare function mail(to: string, text: string, options: { key: string; signal: AbortSignal }): Promise<string>;
`;

/** Values with which examples of core run. Examples that use other names of `GIVEN` only compile. */
const RUNNING = `
import assert from "node:assert/strict";
import { Agent } from "@banyan/core";
import { Session } from "@banyan/core";
import { defineTool } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";
import { memoryStore } from "@banyan/store/memory";
import { z } from "zod";
const model = scriptedModel(() => "Hello.");
const tool = defineTool({ name: "look", description: "Looks.", input: z.object({}), effects: "none", execute: () => "" });
const tools = [tool];
const agent = new Agent({ model });
const session = Session.inMemory();
const store = memoryStore();
const signal = AbortSignal.timeout(60_000);
await agent.send("Hello", { session });
`;

/** Matches examples that need a provider, a background process or a model that responds with JSON, or that throw. */
const MORE_NEEDED = /resolveModel|embeddingModel|processes|output: z|^throw /;

/** Matches a line that claims a value, such as `isId("") // false`, perhaps with a reason. */
const CLAIM =
  /^(?!const |let |for |if )(\S.*?);? \/\/ (true|false|undefined|[\d_.]+|"[^"]*"|'[^']*'|\[.*\]|\{.*\})(?:, because .*)?$/gm;

/** Options of the library. Each needs an example in its interface's doc comment. */
const OPTIONS = [
  "AcpAgentOptions",
  "AddMessageOptions",
  "AgUiOptions",
  "AgentOptions",
  "AskOptions",
  "Callbacks",
  "ChatOptions",
  "ChooseModelOptions",
  "CompactionOptions",
  "DeskOptions",
  "WebFetchOptions",
  "HostOptions",
  "LanguageModelOptions",
  "LaunchAgentOptions",
  "Limits",
  "McpOptions",
  "MemorySearchOptions",
  "ModelSettings",
  "OpenAIChatOptions",
  "OtlpOptions",
  "PermissionOptions",
  "PostgresStoreOptions",
  "Question",
  "RecordedOptions",
  "ReconnectSettings",
  "RedriveOptions",
  "ResolveOptions",
  "ResponseBounds",
  "RestateDriverOptions",
  "RetrySettings",
  "SandboxOptions",
  "SayOptions",
  "SearchSettings",
  "ServeOptions",
  "SessionOptions",
  "SqliteMemoryOptions",
  "SqliteStoreOptions",
  "TelemetryOptions",
  "Tool",
  "WebToolsOptions",
  "WireOptions",
  "WorkspaceToolsOptions",
];

/** Wrong programs, and the words by which the compiler names each mistake. */
const WRONG: readonly (readonly [code: string, words: string])[] = [
  [
    'defineTool({ name: "a", description: "b", input: z.object({ c: z.string() }), execute: ({ c }) => c });',
    "Property 'effects' is missing",
  ],
  [
    'defineTool({ name: "a", description: "b", input: { type: "object" }, execute: () => "c" });',
    "Property 'effects' is missing",
  ],
  [
    'defineTool({ name: "a", description: "b", input: z.object({}), effects: "read", execute: () => "c" });',
    `'"read"' is not assignable to type 'Effects'`,
  ],
  [
    'defineTool({ name: "a", description: "b", input: z.object({}), effects: "none", exekute: () => "c" });',
    "Did you mean to write 'execute'?",
  ],
  [
    'new Agent({ model, tools: [{ name: "a", description: "b", input: { type: "object" }, execute: () => "c" }] });',
    "Property 'effects' is missing",
  ],
  ["new Agent({});", "Property 'model' is missing"],
  ["new Agent({ model, instruction: 'Be brief.' });", "Did you mean to write 'instructions'?"],
  ["new Agent({ model, limits: { step: 3 } });", "Did you mean to write 'steps'?"],
  ['agent.chat("Hello");', "not assignable to parameter of type 'Directive'"],
  ['agent.send("Hello", { session: Session.open(store) });', "Type 'Promise<Session>' is missing"],
  ["serve(agent, {});", "Property 'store' is missing"],
];

interface Example {
  readonly at: string;
  readonly start: number;
  readonly code: string;
}

const files = globSync("packages/*/src/**/*.ts", { cwd: root, exclude: (file) => /\.(test|fixture)\.ts$/.test(file) });
const examples = files.flatMap(examplesIn);

const modules = new Map(
  [...examples, ...WRONG.map(([code]) => ({ at: code, code }))].map((module, index) => [`example-${index}.ts`, module]),
);
const folder = mkdtempSync(join(tmpdir(), "examples-"));
const origins = originsOfNames();
const reports = compile();

test("every @example compiles", () => {
  expect(examples.length).toBeGreaterThan(60);
  const places = new Set(examples.map(({ at }) => at));
  expect(reports.filter(({ at }) => places.has(at))).toEqual([]);
});

test("L12: every @example of core that needs no key, file or server runs, with the values that it claims", () => {
  const known = namesIn(RUNNING);
  const lacking = new Set(namesIn(GIVEN).filter((name) => !known.includes(name)));
  const running = examples.filter(
    ({ at, code }) =>
      at.startsWith("packages/core/src") &&
      !MORE_NEEDED.test(code) &&
      !code.match(/\w+/g)?.some((word) => lacking.has(word)),
  );
  expect(running.length).toBeGreaterThan(150);
  expect(running.flatMap(({ code }) => code.match(CLAIM) ?? []).length).toBeGreaterThan(60);
  for (const [index, { code }] of running.entries())
    writeFileSync(join(folder, `running-${index}.ts`), runningModuleOf(code, origins));
  const program = `
    const places = ${JSON.stringify(running.map(({ at }) => at))};
    const { log } = console;
    console.log = () => {};
    process.on("unhandledRejection", (error) => log("unhandled", error));
    for (const [index, at] of places.entries())
      await import(\`./running-\${index}.ts\`).catch((error) => log(at, error));
    process.exit();`;
  writeFileSync(join(folder, "run.ts"), program);
  const { stdout, stderr, status } = spawnSync(process.execPath, ["run.ts"], { encoding: "utf8", cwd: folder });
  expect([stdout, stderr, status]).toEqual(["", "", 0]);
});

test.each(WRONG)("L11: the compiler names the mistake in %s", (code, words) => {
  const said = reports.filter(({ at }) => at === code).map(({ report }) => report);
  expect(said.join("")).toContain(words);
});

interface Report {
  readonly at: string;
  readonly report: string;
}

/** Compiles all modules in one project, and returns the reports of the compiler about them. */
function compile(): readonly Report[] {
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "junction");
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  for (const [name, { code }] of modules) writeFileSync(join(folder, name), moduleOf(code, origins));
  const tsconfig = {
    extends: join(root, "tsconfig.json"),
    compilerOptions: {
      noUnusedLocals: false,
      verbatimModuleSyntax: false,
      typeRoots: [join(root, "node_modules/@types")],
    },
    include: ["*.ts"],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(tsconfig));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const { stdout } = spawnSync(process.execPath, [tsc, "-p", folder, "--pretty", "false", ...ONE_CHECKER], {
    encoding: "utf8",
    cwd: folder,
  });
  // The sources are checked separately, with other libraries.
  return stdout.split(/^(?=\S)/m).flatMap((report) => {
    const [, name = ""] = /^(example-\d+\.ts)\(/.exec(report) ?? [];
    const module = modules.get(name);
    return module ? [{ at: module.at, report }] : [];
  });
}

describe("each option has an @example:", () => {
  test.each(OPTIONS)("%s", (name) => {
    // Two packages may have interfaces of the same name: the public one has examples.
    const holders = files.filter((file) => new RegExp(`^export interface ${name}\\b`, "m").test(textOf(file)));
    const lacking = holders.map((file) => {
      const { options, from, to } = interfaceIn(file, name);
      const code = examplesIn(file).flatMap(({ start, code }) => (start >= from && start <= to ? code : []));
      expect(options.length).toBeGreaterThan(0);
      return options.filter((option) => !new RegExp(`\\b${option}\\b`).test(code.join("\n")));
    });
    expect(lacking).toContainEqual([]);
  });
});

function textOf(file: string): string {
  return readFileSync(join(root, file), "utf8");
}

function examplesIn(file: string): Example[] {
  const text = textOf(file);
  return [...text.matchAll(/\/\*\*.*?\*\//gs)].flatMap(({ 0: comment, index }) => {
    const lines = comment.slice(3, -2).replace(/^[ \t]*\* ?/gm, "");
    return lines
      .split(/^[ \t]*(?=@\w)/m)
      .filter((tag) => tag.startsWith("@example"))
      .map((tag) => ({
        at: `${file}:${text.slice(0, index).split("\n").length}`,
        start: index,
        code: tag
          .slice("@example".length)
          .replace(/^[ \t]*```\w*$/gm, "")
          .trim(),
      }));
  });
}

/** Returns the options of an interface and the range of its text, including its doc comment. */
function interfaceIn(file: string, name: string): { options: string[]; from: number; to: number } {
  const { program, comments } = parseSync(file, textOf(file));
  for (const node of program.body) {
    if (node.type !== "ExportNamedDeclaration" || node.declaration?.type !== "TSInterfaceDeclaration") continue;
    const { id, body } = node.declaration;
    if (id.name !== name) continue;
    const doc = comments.findLast(({ end }) => end <= node.start);
    const options = body.body.flatMap((member) =>
      "key" in member && member.key.type === "Identifier" ? member.key.name : [],
    );
    return { options, from: doc?.start ?? node.start, to: node.end };
  }
  throw new Error(`${file} exports no interface ${name}.`);
}

function originsOfNames(): ReadonlyMap<string, string> {
  const origins = new Map<string, string>();
  for (const name of [
    "core",
    "models",
    "store",
    "memory",
    "telemetry",
    "tools",
    "acp",
    "protocol",
    "client",
    "host",
    "desk",
    "server",
    "restate",
  ]) {
    const folder = join(root, "packages", name);
    const manifest: { exports: Record<string, string> } = JSON.parse(
      readFileSync(join(folder, "package.json"), "utf8"),
    );
    for (const [path, source] of Object.entries(manifest.exports)) {
      for (const exported of exportsOf(join(folder, source))) {
        if (!origins.has(exported)) origins.set(exported, posix.join("@banyan", name, path));
      }
    }
  }
  return origins;
}

function namesIn(given: string): string[] {
  return given.match(/(?<=const |function |import \{ )\w+/g) ?? [];
}

function moduleOf(code: string, origins: ReadonlyMap<string, string>): string {
  const imports = importsOf(code, origins, GIVEN).map(([name, origin]) => `import { ${name} } from "${origin}";`);
  return `${imports.join("\n")}\n${GIVEN}\n{\n${code}\n}\n`;
}

/** Returns a module that Node can run. A type has no value, and its name is then `undefined`. */
function runningModuleOf(code: string, origins: ReadonlyMap<string, string>): string {
  const imports = importsOf(code, origins, RUNNING).map(
    ([name, origin]) => `const { ${name} } = await import("${origin}");`,
  );
  const checked = code.replaceAll(CLAIM, (_line, expression, value) => `assert.deepEqual(${expression}, ${value});`);
  return `${RUNNING}\n${imports.join("\n")}\n{\n${checked}\n}\n`;
}

function importsOf(
  code: string,
  origins: ReadonlyMap<string, string>,
  given: string,
): [name: string, origin: string][] {
  const words = new Set(code.match(/(?<!["'`\w]|(?<!\.\.)\.)[A-Za-z]\w*(?!\w*:)/g));
  const own = new Set(namesIn(given));
  return [...words].flatMap((word): [string, string][] => {
    const origin = own.has(word) ? undefined : origins.get(word);
    return origin === undefined ? [] : [[word, origin]];
  });
}
