import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
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

/** Compressed bytes of the modules of a page. */
export interface PageSizes {
  /** Of the modules that the page loads before its first answer. */
  readonly first: number;
  readonly all: number;
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
  const [entry] = chunks;
  const visit = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({
      load(url, context, next) {
        loaded.push(url);
        return next(url, context);
      },
    });
    // Code for a page looks for Node.
    const { process } = globalThis;
    delete globalThis.process;
    Object.defineProperty(globalThis, "navigator", { value: { userAgent: "a browser" } });
    const { chat } = await import(${JSON.stringify(pathToFileURL(join(page, entry?.fileName ?? "")).href)});
    const answer = await chat(${JSON.stringify(address)});
    console.log(JSON.stringify({ answer, loaded }));
    process.exit();`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", visit]);
  const visited = JSON.parse(stdout) as { readonly answer: string; readonly loaded: readonly string[] };
  if (visited.answer !== answer) throw new Error(`The page got the answer ${JSON.stringify(visited.answer)}.`);
  const loaded = new Set(visited.loaded.map((url) => basename(url)));
  const size = (some: typeof chunks) => some.reduce((sum, { code }) => sum + gzipSync(code, { level: 9 }).length, 0);
  return { first: size(chunks.filter(({ fileName }) => loaded.has(fileName))), all: size(chunks) };
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
