import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { build, type OutputChunk, type OutputOptions } from "rolldown";
import { writeModules } from "../build/modules.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const PACKAGES = ["core", "protocol", "models", "store"];

/** A project with the published files of our packages, without types, and with all other dependencies as links. */
export async function packedProject(): Promise<string> {
  const project = mkdtempSync(join(tmpdir(), "runtimes-"));
  const modules = join(project, "node_modules");
  mkdirSync(join(modules, "@banyan"), { recursive: true });
  for (const name of PACKAGES) await writeModules(join(ROOT, "packages", name), join(modules, "@banyan", name));
  for (const name of readdirSync(join(ROOT, "node_modules"))) {
    if (name !== "@banyan" && !name.startsWith(".")) symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
  }
  writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
  return project;
}

/** Bundles a program for a runtime without Node, as one module. Throws if the bundler reports a warning. */
export async function bundleForPages(
  project: string,
  program: string,
  external?: RegExp,
): Promise<{ readonly code: string }> {
  const [chunk] = await bundled(project, program, { codeSplitting: false }, external);
  if (!chunk) throw new Error("The bundle is empty.");
  return chunk;
}

/** A page, and the compressed bytes of its modules. */
export interface PageSizes {
  /** Bytes of the modules that the page loads before its first answer. */
  readonly first: number;
  readonly all: number;
  /** Names of the modules that the page has not loaded in the background after its first answer either. */
  readonly unloaded: readonly string[];
  /** The error of the page if its network is down when it asks the model. */
  readonly offline: string;
}

/** Bundles a page, and calls its export `chat` with `address` until its answer is `answer`. */
export async function pageSizes(
  project: string,
  program: string,
  { address, answer }: { readonly address: string; readonly answer: string },
): Promise<PageSizes> {
  const chunks = await bundled(project, program, { minify: true });
  const names = new Set(chunks.map(({ fileName }) => fileName));
  for (const imported of chunks.flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports]))
    if (!names.has(imported)) throw new Error(`The page imports ${imported}, which is not part of it.`);
  const page = mkdtempSync(join(project, "page-"));
  writeFileSync(join(page, "package.json"), JSON.stringify({ type: "module" }));
  for (const { fileName, code } of chunks) writeFileSync(join(page, fileName), code);
  const entry = join(page, chunks[0]?.fileName ?? "");
  const [online, offline] = await Promise.all([visit(entry, address), visit(entry)]);
  if (online.answer !== answer) throw new Error(`The page got the answer ${JSON.stringify(online.answer)}.`);
  const size = (some: typeof chunks) => some.reduce((sum, { code }) => sum + gzipSync(code, { level: 9 }).length, 0);
  const unloaded = chunks.filter(({ fileName, code }) => code !== "" && !online.loaded.includes(fileName));
  return {
    first: size(chunks.filter(({ fileName }) => online.first.includes(fileName))),
    all: size(chunks),
    unloaded: unloaded.map(({ fileName }) => fileName.replace(/(-[\w-]{8}){1,2}\.js$/, "")),
    offline: offline.error ?? "",
  };
}

interface PageVisit {
  readonly answer?: string;
  readonly error?: string;
  /** The modules that were loaded at the end of the chat, and a moment later. */
  readonly first: readonly string[];
  readonly loaded: readonly string[];
}

/** Visits a page. Without `address`, the network is down as soon as the page is there. */
async function visit(entry: string, address?: string): Promise<PageVisit> {
  const source = `
    import { registerHooks } from "node:module";
    const loaded = [];
    let isDown = false;
    registerHooks({
      load(url, context, next) {
        if (isDown) throw new Error("The network is down.");
        loaded.push(url.replace(/.*\\//, ""));
        return next(url, context);
      },
    });
    // Code for a page looks for Node.
    const { process } = globalThis;
    delete globalThis.process;
    Object.defineProperty(globalThis, "navigator", { value: { userAgent: "a browser" } });
    const { chat } = await import(${JSON.stringify(pathToFileURL(entry).href)});
    isDown = ${address === undefined};
    if (isDown) globalThis.fetch = async () => { throw new TypeError("Failed to fetch"); };
    const ended = await chat(${JSON.stringify(address ?? "http://127.0.0.1:9")}).then(
      (answer) => ({ answer }),
      ({ message: error }) => ({ error }),
    );
    const first = [...loaded];
    let known;
    do {
      known = loaded.length;
      await new Promise((resolve) => setTimeout(resolve, 200));
    } while (loaded.length > known);
    console.log(JSON.stringify({ ...ended, first, loaded }));
    process.exit();`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", source]);
  return JSON.parse(stdout) as PageVisit;
}

async function bundled(
  project: string,
  program: string,
  output: OutputOptions,
  external?: RegExp,
): Promise<readonly OutputChunk[]> {
  const source = join(project, "bundled.ts");
  writeFileSync(source, program);
  const built = await build({
    cwd: project,
    input: source,
    platform: "browser",
    write: false,
    transform: { target: "es2023" },
    ...(external && { external }),
    onLog(level, log) {
      if (level === "warn") throw new Error(log.message);
    },
    output: { format: "esm", ...output },
  });
  return built.output.filter((made) => made.type === "chunk");
}
