import { execFile } from "node:child_process";
import { globSync, mkdtempSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { build } from "rolldown";
import { describe, expect, test } from "vitest";
import type { Manifest } from "./manifest.ts";

const run = promisify(execFile);

/** Bounds of installations, as in bench/targets.md. Only the packages themselves and their dependencies count. */
const INSTALLED = [
  { what: "core, models and store", names: ["@banyan/core", "@banyan/models", "@banyan/store"], MB: 25, packages: 30 },
  {
    what: "the program, after its first start without a network",
    names: ["banyan"],
    MB: 60,
    packages: 1,
    files: 2_000,
  },
];

/** Bounds of entries in a page's bundle, in compressed kB of all modules, also of those that load on demand. */
const BUNDLED: Readonly<Record<string, number>> = {
  "openai-compatible": 41,
  google: 43,
  openai: 48,
  azure: 48,
  xai: 48,
  deepseek: 80,
  groq: 81,
  mistral: 93,
  "amazon-bedrock": 97,
  // Our own driver, and the package that writes the settings of its requests.
  anthropic: 115,
};

/** Tests how much users install and load (L9). `tarball` returns the packed file of a package. */
export function testSizes(models: Manifest, project: string, tarball: (name: string) => string): void {
  describe("L9: sizes", () => {
    test.each(INSTALLED)("L9: $what: at most $MB MB and $packages packages", async ({ names, MB, packages, files }) => {
      const folder = mkdtempSync(join(tmpdir(), "installed-"));
      const dependencies = Object.fromEntries(names.map((name) => [name, `file:${tarball(name)}`]));
      writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module", dependencies }));
      await run("npm", ["install", "--loglevel=error", "--prefer-offline", "--no-audit", "--no-fund"], { cwd: folder });
      const home = mkdtempSync(join(tmpdir(), "home-"));
      if (names.includes("banyan")) expect(await offlineAnswer(folder, home)).toMatch(/^I am `demo\/offline`/);
      const sizes = [...sizesIn(join(folder, "node_modules")), ...sizesIn(home)];
      const { stdout } = await run("npm", ["ls", "--all", "--parseable"], { cwd: folder });
      // The first line is the folder.
      expect(stdout.trim().split("\n").length - 1).toBeLessThanOrEqual(packages);
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MB * 1e6);
      expect(sizes.length).toBeLessThan(files ?? Number.POSITIVE_INFINITY);
    });

    const entries = Object.keys(models.exports ?? {}).filter((path) => path !== ".");
    test.each(entries)("L9: @banyan/models%s in the bundle of a page", async (path) => {
      const name = path.slice(2);
      const input = join(project, `bundled-${name}.js`);
      writeFileSync(input, `import * as entry from "@banyan/models/${name}"; globalThis.entry = Object.values(entry);`);
      const { output } = await build({
        input,
        platform: "browser",
        write: false,
        external: /^node:/,
        output: { minify: true },
        logLevel: "silent",
      });
      const chunks = output.filter((made) => made.type === "chunk");
      const sizes = chunks.map(({ code }) => gzipSync(code, { level: 9 }).length);
      const size = sizes.reduce((sum, each) => sum + each, 0) / 1000;
      expect(size).toBeGreaterThan(10);
      expect(size).toBeLessThan(BUNDLED[name] ?? 0);
    });

    test("L9: importing core takes no longer than importing zod three times", async () => {
      const times = { "@banyan/core": [] as number[], zod: [] as number[] };
      for (let round = 0; round < 5; round++)
        for (const [name, found] of Object.entries(times)) {
          const source = `const from = performance.now(); await import("${name}"); console.log(performance.now() - from);`;
          const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", source], { cwd: project });
          found.push(Number(stdout));
        }
      // The shortest time is that of the least busy machine.
      expect(Math.min(...times["@banyan/core"])).toBeLessThan(3 * Math.min(...times.zod));
    });
  });
}

/** Starts the program in a network without addresses, if this machine has bubblewrap. */
async function offlineAnswer(folder: string, home: string): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: home, BANYAN_NO_DISCOVERY: "1" };
  const command = [join(folder, "node_modules", ".bin", "banyan"), "-p", "what can you do?"];
  const confined = ["--dev-bind", "/", "/", "--unshare-net", ...command];
  const hasBubblewrap = await run("bwrap", ["--dev-bind", "/", "/", "--unshare-net", "true"]).then(
    () => true,
    () => false,
  );
  const [program = "", ...args] = hasBubblewrap ? ["bwrap", ...confined] : command;
  const started = run(program, args, { cwd: folder, env });
  started.child.stdin?.end();
  return (await started).stdout;
}

function sizesIn(folder: string): number[] {
  const files = globSync("**/*", { cwd: folder, withFileTypes: true }).filter((file) => file.isFile());
  return files.map((file) => statSync(join(file.parentPath, file.name)).size);
}
