import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, parse } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { bundle } from "./build/bundle.ts";
import { writeProgram } from "./build/program.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Dependencies of earlier programs that nearly every start loads, or that have many files: the user interface alone
 * loads 500. Finding and opening a file takes Node longer than reading it.
 */
const OF_MANY_FILES =
  /^(@agentclientprotocol\/sdk|@cfworker\/json-schema|@earendil-works\/pi-tui|@hono\/node-server|commander|diff|devlop|get-east-asian-width|highlight\.js|hono|ignore|ipaddr\.js|lowlight|marked|micromark.*|picomatch|pg|undici|ws|yaml|zod)$/;

/** Builds the program for tests that start it, as it is published (L9). It starts in a third of the time of the sources. */
export default async function testProgram(project: TestProject): Promise<() => void> {
  const folder = join(root, "node_modules", ".cache", `banyan-${process.pid}`);
  const build = () => writeProgram(join(root, "packages/cli"), folder);
  await build();
  process.env.BANYAN_TEST_PROGRAM = join(folder, "banyan.program.js");
  project.onTestsRerun(async () => void (await build()));
  return () => rmSync(folder, { recursive: true, force: true });
}

async function putProgram(sources: string, folder: string): Promise<string> {
  await bundle(join(sources, "packages/cli"), { main: "src/main.ts" }, { dist: folder, inlines });
  takesModules(folder);
  return join(folder, "main.js");
}

/** The program of an earlier commit. The caller removes it. */
export interface EarlierProgram extends Disposable {
  readonly main: string;
}

/**
 * Bundles the program of an earlier commit from the history of git, with the installed dependencies. Returns a sentence
 * with the reason if the history does not contain the commit.
 */
export async function earlierProgram(commit: string): Promise<EarlierProgram | string> {
  const git = (...args: readonly string[]) => spawnSync("git", ["-C", root, ...args], { maxBuffer: 2 ** 30 });
  if (git("cat-file", "-e", `${commit}^{commit}`).status !== 0) return `the git history has no commit ${commit}`;
  const sources = mkdtempSync(join(root, "node_modules", ".cache", `banyan-${commit.slice(0, 8)}-`));
  const remove = () => rmSync(sources, { recursive: true, force: true });
  try {
    const archive = git("archive", commit, "packages");
    const { status, stderr } = spawnSync("tar", ["-x", "-C", sources], { input: archive.stdout });
    if (status !== 0) throw new Error(`${commit} cannot be unpacked: ${archive.stderr}${stderr}`);
    const own = join(sources, "node_modules", "@banyan");
    mkdirSync(own, { recursive: true });
    for (const name of readdirSync(join(sources, "packages"))) {
      symlinkSync(join(sources, "packages", name), join(own, name));
      const nested = join(root, "packages", name, "node_modules");
      if (existsSync(nested)) symlinkSync(nested, join(sources, "packages", name, "node_modules"));
    }
    return { main: await putProgram(sources, join(sources, "built")), [Symbol.dispose]: remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Bundles a program that a test starts repeatedly, which halves its start. Returns the path of the module. */
export async function wholeProgram(source: string, folder: string): Promise<string> {
  const { name } = parse(source);
  await bundle(dirname(source), { [name]: source }, { dist: folder, inlines: (id) => !id.startsWith("node:") });
  takesModules(folder);
  return join(folder, `${name}.js`);
}

/** Marks the modules of a folder as ES modules: without this, Node would try CommonJS first. */
function takesModules(folder: string): void {
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
}

/** Bundles our own packages, dependencies of many files, and dependencies in a version that only one package uses. */
function inlines(id: string, importer = ""): boolean {
  if (id.startsWith("node:")) return false;
  if (id.startsWith("@banyan/") || OF_MANY_FILES.test(packageOf(id).join("/"))) return true;
  const [, own] = /^(.*\/packages\/[^/]+)\/src\//.exec(importer) ?? [];
  return own !== undefined && existsSync(join(own, "node_modules", ...packageOf(id)));
}

function packageOf(id: string): string[] {
  return id.split("/").slice(0, id.startsWith("@") ? 2 : 1);
}
