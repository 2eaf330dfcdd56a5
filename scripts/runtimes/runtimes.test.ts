import { execFile } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { storeConformance } from "@banyan/core/testing";
import { memoryStore } from "@banyan/store/memory";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
// biome-ignore lint/style/noRestrictedImports: all tests find Chromium in the same way.
import { chromiumPath, whyNot } from "../../packages/web/src/testing/chromium.fixture.ts";
import type { Verdict } from "./conformance.ts";
import { bundleForPages, packedProject, pageSizes } from "./packed.fixture.ts";
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

function expectAllKept(given: unknown): void {
  const verdicts = given as readonly Verdict[];
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
    await using worker = workerd(installed.folder, code);
    const { mock, slow } = servers;
    expectAllKept(await worker.ask(`/?${new URLSearchParams({ mock, slow })}`));
  });

  test("L8: a Durable Object keeps a conversation over a restart", { timeout: 180_000 }, async ({ skip }) => {
    if ("missing" in installed) return skip(installed.missing);
    const example = join(import.meta.dirname, "..", "..", "examples", "src", "durable-object.ts");
    const { code } = await bundleForPages(project, readFileSync(example, "utf8"));
    const options = {
      bindings: { MODEL_ADDRESS: `${servers.mock}/v1` },
      durableObjects: { USERS: { className: "User", useSQLite: true } },
      durableObjectsPersist: mkdtempSync(join(tmpdir(), "durable-objects-")),
    };
    const { folder } = installed;
    const said = ["Hello", "Good morning, dear wörld. 🌳"];
    const inWorker = async (...request: Parameters<Workerd["ask"]>) => {
      await using worker = workerd(folder, code, options);
      return await worker.ask(...request);
    };
    expect(await inWorker("/garden", { method: "POST", body: "Hello" })).toEqual(said);
    expect(await inWorker("/garden")).toEqual(said);
    expect(await inWorker("/garden", { method: "POST", body: "Hello" })).toEqual([...said, ...said]);
    expect(await inWorker("/another")).toEqual([]);
    expect(await inWorker("/garden", { headers: { authorization: "another user" } })).toEqual([]);
  });

  test("L8: the store in a Durable Object keeps the contract of stores", { timeout: 300_000 }, async ({ skip }) => {
    if ("missing" in installed) return skip(installed.missing);
    const { code } = await bundleForPages(
      project,
      `import { storeConformance } from "@banyan/core/testing";
      import { type DurableStorage, durableObjectStore } from "@banyan/store/durable-object";
      export class Case {
        readonly #storage: DurableStorage;
        constructor(ctx: { readonly storage: DurableStorage }) {
          this.#storage = ctx.storage;
        }
        async fetch(request: Request) {
          const open = async () => durableObjectStore(this.#storage);
          const cases = storeConformance(async () => ({ store: await open(), reopen: open }));
          const { name, run } = cases[Number(new URL(request.url).pathname.slice(1))] ?? {};
          const error = await run?.().then(() => undefined, (error) => String(error.stack));
          return Response.json({ name, error });
        }
      }
      export default {
        fetch: (request: Request, env: any) => env.CASES.getByName(request.url).fetch(request),
      };`,
      /^node:/,
    );
    await using worker = workerd(installed.folder, code, {
      compatibilityFlags: ["nodejs_compat"],
      durableObjects: { CASES: { className: "Case", useSQLite: true } },
    });
    const verdicts: Verdict[] = [];
    for (const index of storeConformance(async () => ({ store: memoryStore() })).keys())
      verdicts.push((await worker.ask(`/${index}`)) as Verdict);
    expectAllKept(verdicts);
  });
});

interface Workerd extends AsyncDisposable {
  /** Returns the JSON of the answer to a request. */
  ask(path: string, request?: RequestInit): Promise<unknown>;
}

/** Runs a Worker on the workerd that is installed in `folder`. */
function workerd(folder: string, script: string, options: object = {}): Workerd {
  const { Miniflare } = createRequire(join(folder, "package.json"))("miniflare");
  const worker = new Miniflare({ modules: true, script, compatibilityDate: "2026-01-01", ...options });
  return {
    async ask(path, request) {
      const response = await worker.dispatchFetch(`http://worker.example${path}`, request);
      if (!response.ok) throw new Error(await response.text());
      return response.json();
    },
    [Symbol.asyncDispose]: () => worker.dispose(),
  };
}

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

/** Bounds of a page with an agent, a tool and a driver, in compressed kB. */
test.each([
  { entry: "openai-compatible", create: "openaiCompatible", path: "/v1", first: 113, all: 146 },
  { entry: "anthropic", create: "anthropic", path: "", first: 114, all: 218 },
])("L9: a page with /$entry loads at most $first kB before its first answer, and $all kB in all", async (page) => {
  const { entry, create, path, first, all } = page;
  const program = `import { Agent, defineTool, say } from "@banyan/core";
    import { ${create} } from "@banyan/models/${entry}";
    const weather = defineTool({
      name: "weather",
      description: "Tells the weather of a city.",
      input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      effects: "none",
      execute: ({ city }) => \`Sunny in \${city}.\`,
    });
    export async function chat(baseURL) {
      const model = ${create}("claude-sonnet-5", { baseURL, apiKey: "key" });
      let text = "";
      const agent = new Agent({ model, tools: [weather], retry: { attempts: 1 } });
      for await (const piece of agent.chat(say("What is the weather?")).text) text += piece;
      return text;
    }`;
  const sizes = await pageSizes(project, program, { address: `${servers.mock}${path}`, answer: "It is sunny." });
  expect(sizes.first).toBeGreaterThan(20_000);
  expect(sizes.first).toBeLessThan(first * 1_000);
  expect(sizes.all).toBeLessThan(all * 1_000);
  // The rest loads in the background, except code for other models and loops, and to count tokens over the network.
  expect(sizes.unloaded.filter((name) => name !== "internal").sort()).toEqual(["agent", "ai-sdk", "turn"]);
  expect(sizes.offline).toMatch(/cannot be reached; check the address and the network/);
});
