import { execFile } from "node:child_process";
import { copyFileSync, mkdtempSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
// biome-ignore lint/style/noRestrictedImports: all tests find Chromium in the same way.
import { chromiumPath, whyNot } from "../../packages/web/src/testing/chromium.fixture.ts";
import type { Verdict } from "./conformance.ts";
import { bundleForPages, packedProject } from "./packed.fixture.ts";
import { type Servers, startServers } from "./servers.fixture.ts";

const LONG = process.env.BANYAN_LONG === "1";

/** The other runtimes, as npm installs them: `npm ci` of this repository must not. */
const RUNTIMES = ["node@22.23.3", "bun@1.4.5", "deno@2.9.6", "miniflare@4.20260730.0"];

let project: string;
let servers: Servers;
/** The folder of the other runtimes, or the reason why there is none. */
let installed: { readonly folder: string } | { readonly missing: string };

beforeAll(async () => {
  project = await packedProject();
  for (const file of ["conformance.ts", "sqlite.ts"])
    copyFileSync(join(import.meta.dirname, file), join(project, file));
  writeFileSync(
    join(project, "program.ts"),
    `import { conform } from "./conformance.ts";
    const [mock, slow] = process.argv.slice(2);
    console.log(JSON.stringify(await conform({ mock, slow })));`,
  );
  servers = await startServers();
  installed = LONG ? await installRuntimes() : { missing: "only in long mode" };
}, 10 * 60_000);

afterAll(() => servers[Symbol.asyncDispose]());

async function installRuntimes(): Promise<typeof installed> {
  const folder = mkdtempSync(join(tmpdir(), "installed-runtimes-"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
  try {
    await promisify(execFile)("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", ...RUNTIMES], {
      cwd: folder,
      timeout: 8 * 60_000,
    });
    return { folder };
  } catch (error) {
    return { missing: `npm could not install them: ${String(error).slice(0, 500)}` };
  }
}

/** Runs the suite, and the program with the store in SQLite. */
async function expectToRun(program: string, ...args: readonly string[]): Promise<void> {
  const run = async (...file: readonly string[]) => {
    const options = { cwd: project, timeout: 120_000 };
    const { stdout, stderr } = await promisify(execFile)(program, [...args, ...file], options);
    expect(stderr.replace(/^.*(ExperimentalWarning|--trace-warnings).*\n/gm, "")).toBe("");
    return JSON.parse(stdout);
  };
  expectAllKept(await run("program.ts", servers.mock, servers.slow));
  const kept = { locked: "locked", messages: 2, found: "An oak.", listed: ["garden"] };
  expect(await run("sqlite.ts")).toEqual(kept);
}

function expectAllKept(verdicts: readonly Verdict[]): void {
  expect(verdicts.length).toBeGreaterThan(10);
  expect(verdicts.filter(({ error }) => error !== undefined)).toEqual([]);
}

test("L8: the packages run on Node 24", () => expectToRun(process.execPath));

describe.skipIf(!LONG)("on other runtimes (in long mode)", () => {
  test.for<[name: string, program: string, args: string[]]>([
    ["Node 22", "node/bin/node", []],
    ["Bun", ".bin/bun", []],
    ["Deno", ".bin/deno", ["run", "--allow-all", "--no-lock", "--node-modules-dir=manual"]],
  ])("L8: the packages run on %s", { timeout: 180_000 }, async ([, program, args], { skip }) => {
    if ("missing" in installed) return skip(installed.missing);
    await expectToRun(join(installed.folder, "node_modules", program), ...args);
  });

  test("L8: the packages run on workerd, without its parts for Node", { timeout: 180_000 }, async ({ skip }) => {
    if ("missing" in installed) return skip(installed.missing);
    const { code } = await bundleForPages(
      project,
      `import { conform } from "./conformance.ts";
      export default {
        async fetch(request: Request) {
          const { mock, slow } = Object.fromEntries(new URL(request.url).searchParams);
          return Response.json(await conform({ mock, slow }));
        },
      };`,
    );
    const { Miniflare } = createRequire(join(installed.folder, "package.json"))("miniflare");
    const worker = new Miniflare({ modules: true, script: code, compatibilityDate: "2026-01-01" });
    try {
      const { mock, slow } = servers;
      const address = `http://worker.example/?${new URLSearchParams({ mock, slow })}`;
      expectAllKept((await (await worker.dispatchFetch(address)).json()) as Verdict[]);
    } finally {
      await worker.dispose();
    }
  });
});

test.skipIf(chromiumPath === undefined)(
  `L8: the packages run in a browser${whyNot}`,
  { timeout: 120_000 },
  async () => {
    const program = `import { conform } from "./conformance.ts"; globalThis.conform = conform;`;
    const { code } = await bundleForPages(project, program);
    const browser = await chromium.launch({ executablePath: chromiumPath as string, args: ["--no-sandbox"] });
    try {
      const page = await browser.newPage();
      await page.addScriptTag({ content: code, type: "module" });
      const { mock, slow } = servers;
      const verdicts = await page.evaluate((addresses) => (globalThis as unknown as Page).conform(addresses), {
        mock,
        slow,
      });
      expectAllKept(verdicts);
    } finally {
      await browser.close();
    }
  },
);

interface Page {
  conform(addresses: { readonly mock: string; readonly slow: string }): Promise<Verdict[]>;
}

test("L8: a bundle of core with one driver imports nothing, and stays below 130 kB (gzip)", async () => {
  const program = `export { Agent, Session, say } from "@banyan/core"; export { openaiCompatible } from "@banyan/models/openai-compatible";`;
  const { code, imports } = await bundleForPages(project, program, true);
  expect(imports).toEqual([]);
  expect(gzipSync(code).length).toBeLessThan(130_000);
});
