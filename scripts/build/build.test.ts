import { execFile } from "node:child_process";
import { cpSync, globSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { problemAffectsResolutionKind } from "@arethetypeswrong/core/problems";
import { publint } from "publint";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { ONE_CHECKER } from "./declarations.ts";
import { entriesOf, type Manifest } from "./manifest.ts";
import { packagesOfPrograms, testPrograms } from "./packed-programs.fixture.ts";
import { testSizes } from "./packed-sizes.fixture.ts";
import { NOT_BUNDLED } from "./program.ts";
import { hasNewSyntax, importsOf } from "./syntax.fixture.ts";

// npm installs the dependencies of all packages into a separate folder.
vi.setConfig({ hookTimeout: 10 * 60_000 });

const root = fileURLToPath(new URL("../..", import.meta.url));
const examples = join(root, "examples", "src");
const packages = globSync("packages/*/package.json", { cwd: root })
  .map((file) => {
    const manifest = JSON.parse(readFileSync(join(root, file), "utf8")) as Manifest;
    return { name: manifest.name, folder: join(root, dirname(file)), manifest };
  })
  .filter(({ name }) => name !== "@banyan/web");

const packed = mkdtempSync(join(tmpdir(), "packed-"));
const project = mkdtempSync(join(tmpdir(), "project-"));

const installed = (name: string) => join(project, "node_modules", name);
const filesOf = (name: string, pattern: string) =>
  globSync(pattern, { cwd: installed(name), exclude: ["node_modules", "page"] });
const tarballOf = ({ name, version }: Manifest) =>
  join(packed, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`);

const OLD_NODE = `data:text/javascript,${encodeURIComponent(`
  Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.19.0" } });
`)}`;

interface Ended {
  readonly stdout: string;
  readonly stderr: string;
}

async function run(
  program: string,
  args: readonly string[],
  { cwd = project, env = process.env } = {},
): Promise<Ended> {
  // On Windows, npm's commands are shell scripts.
  const shell = process.platform === "win32" && program !== process.execPath;
  try {
    const ended = promisify(execFile)(program, args, { cwd, env, shell });
    ended.child.stdin?.end();
    return await ended;
  } catch (error) {
    const { stdout, stderr } = error as Partial<Ended>;
    throw new Error(`${program} ${args.join(" ")} failed.\n${stdout ?? ""}${stderr ?? ""}`, { cause: error });
  }
}

/** Names in the program that are no modules: its `package.json`, a grammar, and a module whose name is computed. */
const OWN_FILES = ["./package.json", "web-tree-sitter.wasm", "Identifier"];

async function runModule(file: string, source: string): Promise<string> {
  writeFileSync(join(project, file), source);
  const { stdout, stderr } = await run(process.execPath, [file], { env: { ...process.env, PATH: "" } });
  expect(stderr).toBe("");
  return stdout;
}

beforeAll(async () => {
  await run(process.execPath, [join(root, "scripts", "build", "main.ts")], { cwd: root });
  const built = packages.map(({ folder }) => join(folder, "dist"));
  await run("npm", ["pack", "--loglevel=error", "--pack-destination", packed, ...built], { cwd: packed });
  const ours = Object.fromEntries(packages.map(({ name, manifest }) => [name, `file:${tarballOf(manifest)}`]));
  // The packages of providers, which a user of all entries of @banyan/models installs.
  const { peerDependencies = {} } = packages.find(({ name }) => name === "@banyan/models")?.manifest ?? {};
  const peers = Object.fromEntries(Object.entries(peerDependencies).filter(([name]) => name.startsWith("@ai-sdk/")));
  const dependencies = { ...peers, ...ours, ...packagesOfPrograms() };
  writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module", dependencies }));
  await run("npm", ["install", "--loglevel=error", "--prefer-offline", "--no-audit", "--no-fund"]);
});

describe.each(packages)("$name, as it is published,", ({ name, manifest }) => {
  test("has a module for each entry, a README and a licence, and no sources", () => {
    const files = filesOf(name, "**/*");
    expect(files).toEqual(expect.arrayContaining(["LICENSE", "README.md", "package.json"]));
    expect(files).toEqual(expect.arrayContaining(Object.keys(entriesOf(manifest)).map((entry) => `${entry}.js`)));
    const own = files.filter((file) => !file.startsWith("examples/"));
    expect(own.filter((file) => /(?<!\.d)\.ts$|\.test\./.test(file))).toEqual([]);
  });

  test("imports what it declares, what lies in it and Node's own modules, and nothing else", () => {
    const files = filesOf(name, "**/*.{js,d.ts}");
    const strange = files.flatMap((file) =>
      importsOf(join(installed(name), file)).filter((imported) => {
        if (OWN_FILES.includes(imported) || isBuiltin(imported) || declares(manifest, imported)) return false;
        if (!imported.startsWith(".")) return name !== "banyan" || !NOT_BUNDLED.includes(imported);
        const module = posix.join(posix.dirname(file), imported);
        return !files.includes(file.endsWith(".d.ts") ? module.replace(/\.js$/, ".d.ts") : module);
      }),
    );
    expect(strange).toEqual([]);
  });

  test("runs no script when it is installed, and is not published from its sources by mistake", () => {
    expect(JSON.parse(readFileSync(join(installed(name), "package.json"), "utf8"))).not.toHaveProperty("scripts");
    expect(manifest).toMatchObject({ private: true });
  });

  test("B77: on a Node that is too old, importing it says which is needed", async () => {
    const paths = Object.keys(manifest.exports ?? {}).map((path) => posix.join(name, path));
    const source = `
      for (const path of ${JSON.stringify(paths)}) await import(path).catch(({ message }) => console.log(message));`;
    writeFileSync(join(project, "old.js"), source);
    const { stdout } = await run(process.execPath, ["--import", OLD_NODE, "old.js"]);
    const needed = /\d+/.exec(manifest.engines.node);
    const said = `${name} needs Node ${needed} or newer, and this is Node 20.19.0: install a newer one from https://nodejs.org.\n`;
    expect(stdout).toBe(said.repeat(paths.length));
  });

  test("B77: what checks Node runs first, has syntax that every Node with modules knows, and exports all", async () => {
    for (const file of filesOf(name, "**/node-check.js"))
      expect(readFileSync(join(installed(name), file), "utf8")).toMatch(/^if \(.*\) \{\n {2}throw .*\n\}\n$/);
    for (const file of filesOf(name, "**/*.checked.js")) {
      const source = readFileSync(join(installed(name), file), "utf8");
      expect(source).toMatch(/^import "\.{1,2}\/node-check\.js";\nexport \* from "\.\/.*\.js";\n$/);
      const checked: object = await import(join(installed(name), file));
      const real: object = await import(join(installed(name), file.replace(".checked", "")));
      expect({ ...checked }).toEqual({ ...real });
    }
  });

  test("L8: no module waits at its top level, and `using` is compiled away", () => {
    const found = filesOf(name, "**/*.js").filter((file) =>
      hasNewSyntax(readFileSync(join(installed(name), file), "utf8")),
    );
    expect(found).toEqual([]);
  });

  test("passes publint, strictly", async () => {
    const { messages } = await publint({ pkgDir: installed(name), strict: true, pack: false });
    // `browser` leaves a dependency out of pages.
    expect(messages.filter(({ code }) => code !== "USE_EXPORTS_OR_IMPORTS_BROWSER")).toEqual([]);
  });
});

// All packages are built alike, so a short run tests one.
test.each(
  packages.filter(({ manifest, name }) => manifest.exports && (process.env.BANYAN_LONG || name === "@banyan/core")),
)("$name has types that fit, for ES modules and for bundlers (attw)", async ({ manifest }) => {
  const analysis = await checkPackage(createPackageFromTarballData(readFileSync(tarballOf(manifest))));
  if (analysis.types === false) throw new Error("There are no types.");
  const problems = analysis.problems.filter((problem) =>
    (["node16-esm", "bundler"] as const).some((kind) => problemAffectsResolutionKind(problem, kind, analysis)),
  );
  expect(problems).toEqual([]);
  expect(Object.keys(analysis.entrypoints)).toEqual(expect.arrayContaining(Object.keys(manifest.exports ?? {})));
});

function declares({ dependencies = {}, peerDependencies = {} }: Manifest, imported: string): boolean {
  return Object.keys({ ...dependencies, ...peerDependencies }).some(
    (name) => imported === name || imported.startsWith(`${name}/`),
  );
}

describe("installed in an empty folder,", () => {
  testPrograms(project, packages, run);

  test("F73: what one process asks is answered in another", async () => {
    const cwd = join(project, "next-day");
    cpSync(join(examples, "approval-next-day.ts"), join(cwd, "program.ts"));
    const request = async (...args: readonly string[]) =>
      (await run(process.execPath, ["program.ts", ...args], { cwd })).stdout.trimEnd();
    const [, question = ""] = (await request("ask")).split(" ");
    expect(await request("answer", question, "yes")).toBe("answered I have paid order 7 back.");
    expect(readFileSync(join(cwd, "refunds.txt"), "utf8")).toBe("order 7\n");
  });

  test("an ES module keeps a conversation in a store, with tools that start a thread", async () => {
    const said = await runModule(
      "keeps.js",
      `import { Agent, say, Session } from "@banyan/core";
      import { isEvent } from "@banyan/core/conversation";
      import { call, scriptedModel } from "@banyan/core/testing";
      import { sqliteStore } from "@banyan/store/sqlite";
      import { workspaceTools } from "@banyan/tools/workspace";

      const store = sqliteStore({ directory: "conversations" });
      const session = await Session.open(store);
      const model = scriptedModel([[call("search", { pattern: "depend", path: "package.json" })], "Found."]);
      const agent = new Agent({ model, tools: workspaceTools({ root: "." }) });
      for await (const item of agent.chat(say("Search."), { session })) {
        if (isEvent(item) && item.type.startsWith("call.")) console.log(item.type, item.output);
      }
      await session.close();
      console.log((await store.list()).length, "kept");
      console.log((await store.search("Found")).length, "found");
      await store.close();`,
    );
    expect(said).toMatch(/^call\.completed package\.json:1:.*^1 kept\n1 found$/ms);
  });

  test("F75, F77: messages are checked before anything is written, and another process goes on below one that cannot be read", async () => {
    const wrote = await runModule(
      "says.js",
      `import { Agent, Session } from "@banyan/core";
      import { scriptedModel } from "@banyan/core/testing";
      import { sqliteStore } from "@banyan/store/sqlite";

      const store = sqliteStore({ directory: "said" });
      const session = await Session.open(store, "garden", { create: true });
      const agent = new Agent({ model: scriptedModel(() => "An oak.") });
      const wrong = [{ type: "text", text: "Look." }, { type: "text", text: 5 }];
      for (const hand of [() => agent.send(wrong, { session }), () => session.add(wrong), () => session.say(wrong)])
        await hand().catch(({ name, message }) => console.log(name, message));
      console.log(session.cursor.seq, "events");
      await agent.send([{ type: "image", image: Buffer.from("iVBORw0KGgo=", "base64") }], { session });
      console.log(JSON.stringify([...session.state.messages.values()][0].parts));
      await session.close();
      // An event of another version, with an unknown part.
      const log = await store.open("garden");
      const event = { type: "message.added", message: "new", parentId: session.state.leaf, role: "user", parts: [{ type: "hologram" }] };
      log.append([{ ...event, seq: log.seq + 1, epoch: log.epoch, at: Date.now() }]);
      await log.close();
      await store.close();`,
    );
    const refusal = "DirectiveError parts[1].text must be a string, not a number.\n";
    const parts = [{ type: "file", mediaType: "image/png", data: "iVBORw0KGgo=" }];
    expect(wrote).toBe(`${refusal.repeat(3)}0 events\n${JSON.stringify(parts)}\n`);
    const read = await runModule(
      "reads.js",
      `import { Agent, say, Session } from "@banyan/core";
      import { scriptedModel } from "@banyan/core/testing";
      import { sqliteStore } from "@banyan/store/sqlite";

      const store = sqliteStore({ directory: "said" });
      const session = await Session.open(store, "garden");
      console.log(session.state.messages.get("new").unreadable);
      const agent = new Agent({ model: scriptedModel(["A beech."]) });
      for await (const item of agent.chat(say("And this?"), { session }))
        if (item.type === "message.left-out") console.log(item.reason);
        else if (item.type === "run.ended") console.log(item.reason);
      await session.close();
      await store.close();`,
    );
    const reason = 'parts[0] has the type "hologram", which this version does not know.\n';
    expect(read).toBe(`${reason}${reason}answered\n`);
  });

  /** Prints the modules that a program loaded: files of packages, and Node's modules that were not loaded before. */
  const LOADED = `
    import { registerHooks } from "node:module";
    const before = new Set(process.moduleLoadList);
    const files = [];
    registerHooks({
      load(url, context, next) {
        if (!url.startsWith("node:") && !url.endsWith("/loads.js")) files.push(url.replace(/.*\\/node_modules\\//, ""));
        return next(url, context);
      },
    });
    process.once("exit", () => {
      const ofNode = process.moduleLoadList.filter((name) => !before.has(name)).map((name) => name.replace(/^.* /, ""));
      console.log(JSON.stringify({ files, ofNode }));
    });`;

  test("an agent is made of few modules, and of none that only an answer needs", async () => {
    writeFileSync(join(project, "loaded.js"), LOADED);
    writeFileSync(
      join(project, "loads.js"),
      `import { Agent } from "@banyan/core";
      import { openAIChat } from "@banyan/models";
      new Agent({ model: openAIChat({ id: "a/b", model: "b", baseURL: "http://127.0.0.1:9/v1" }) });`,
    );
    const { stdout } = await run(process.execPath, ["--import", "./loaded.js", "loads.js"]);
    const { files, ofNode } = JSON.parse(stdout) as { readonly files: string[]; readonly ofNode: string[] };
    const ours = files
      .filter((file) => file.startsWith("@banyan/"))
      .map((file) => file.replace(/-[\w-]{8}\.js$/, ".js"));
    // Node takes half a millisecond to find and open each module: a new one needs a reason.
    expect(ours.toSorted()).toEqual([
      "@banyan/core/ai-sdk.js",
      "@banyan/core/conversation.js",
      "@banyan/core/drivers.js",
      "@banyan/core/first.js",
      "@banyan/core/hosts.js",
      "@banyan/core/index.checked.js",
      "@banyan/core/index.js",
      "@banyan/core/later.js",
      "@banyan/core/node-check.js",
      "@banyan/core/plain.js",
      "@banyan/core/rolldown-runtime.js",
      "@banyan/core/shared.js",
      "@banyan/core/shared.js",
      "@banyan/core/shown.js",
      "@banyan/models/index.checked.js",
      "@banyan/models/index.js",
      "@banyan/models/node-check.js",
      "@banyan/models/plain.js",
      "@banyan/models/shared.js",
    ]);
    expect(files.filter((file) => !file.startsWith("@banyan/") && !file.startsWith("@cfworker/"))).toEqual([]);
    // Modules that take Node milliseconds to load: cryptography with its streams, compression, and everything in "node:util".
    expect(ofNode).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(crypto|zlib|stream|worker_threads)$/)]),
    );
  });

  test("the interface is drawn without what runs an agent", () => {
    const folder = installed("banyan");
    const files = globSync("full-terminal-*.js", { cwd: folder });
    expect(files).toHaveLength(1);
    for (const file of files) {
      const imported = importsOf(join(folder, file), "at its start").filter((path) => path.startsWith("."));
      files.push(...imported.map(posix.normalize).filter((path) => !files.includes(path)));
    }
    const texts = files.map((file) => readFileSync(join(folder, file), "utf8"));
    expect(texts.filter((text) => /^(class (Agent|Toolbox|Host)|async function openHost)\b/m.test(text))).toEqual([]);
    // Node takes half a millisecond to find and open each module, and a millisecond for 40,000 characters.
    expect(files.length).toBeLessThan(20);
    expect(texts.join("").length).toBeLessThan(700_000);
  });

  test("what a page needs of the engine takes nothing of Node", () => {
    const files = ["conversation.js", "shown.js"];
    for (const file of files) {
      const imported = importsOf(join(installed("@banyan/core"), file));
      files.push(
        ...imported
          .filter((path) => path.startsWith(".") && !files.includes(posix.normalize(path)))
          .map(posix.normalize),
      );
      expect(imported.filter((path) => !path.startsWith("."))).toEqual([]);
    }
  });

  test("a CommonJS module imports it", async () => {
    const said = await runModule(
      "common.cjs",
      `async function main() {
        const { Agent } = await import("@banyan/core");
        const { resolveModel } = await import("@banyan/models");
        const model = await resolveModel("demo/offline", { env: {} });
        console.log((await new Agent({ model }).send("What can you do?")).text);
      }
      main();`,
    );
    expect(said).toMatch(/^I am `demo\/offline`/);
  });

  // A short run only uses the stricter resolution, `nodenext`.
  test.each(process.env.BANYAN_LONG ? ["nodenext", "bundler"] : ["nodenext"])(
    "TypeScript checks the examples against its types, resolved as %s",
    async (how) => {
      const folder = join(project, how);
      // These examples need another package, which a user of such a client installs.
      const others = /(?:compared|\.test\.ts|(?:socket-client|ui-messages|ag-ui|hono-use-chat|history)\.ts)$/;
      cpSync(examples, folder, { recursive: true, filter: (file) => !others.test(file) });
      writeFileSync(join(folder, "wrong.ts"), mistakes);
      const compilerOptions = {
        module: how === "bundler" ? "esnext" : how,
        moduleResolution: how,
        target: "esnext",
        strict: true,
        // Options that `tsc --init` enables in addition to `strict`.
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        noEmit: true,
        allowImportingTsExtensions: true,
        types: ["node"],
        typeRoots: [join(root, "node_modules", "@types")],
      };
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
      await run(process.execPath, [
        join(root, "node_modules", "typescript", "bin", "tsc"),
        "-p",
        folder,
        ...ONE_CHECKER,
      ]);
    },
  );

  /** Lost types would be `any`, and these errors would disappear. */
  const mistakes = `
    import { Agent } from "@banyan/core";
    import { openHost } from "@banyan/host";
    import { chooseModel } from "@banyan/models";
    import { sqliteStore } from "@banyan/store/sqlite";
    import { workspaceTools } from "@banyan/tools/workspace";
    // @ts-expect-error: an agent needs a model
    new Agent({});
    // @ts-expect-error: a host needs a directory
    openHost({});
    // @ts-expect-error: the environment has names
    chooseModel({ env: "HOME" });
    // @ts-expect-error: a store needs a directory
    sqliteStore({});
    // @ts-expect-error: the tools need a folder
    workspaceTools({});
  `;

  test("the command tells its version and answers offline", async () => {
    const command = join(project, "node_modules", ".bin", "banyan");
    const { version } = packages.find(({ name }) => name === "banyan")?.manifest ?? {};
    expect((await run(command, ["--version"])).stdout).toBe(`${version}\n`);
    await expect(run(process.execPath, ["--import", OLD_NODE, command, "--version"])).rejects.toThrow(
      "banyan needs Node 24 or newer, and this is Node 20.19.0: install a newer one from https://nodejs.org.\n",
    );
    expect((await run(command, ["-p", "what can you do?"])).stdout).toMatch(/^I am `demo\/offline`/);
  });
});

const published = Object.fromEntries(packages.map(({ name, manifest }) => [name, manifest]));
testSizes(published["@banyan/models"] as Manifest, project, (name) => tarballOf(published[name] as Manifest));
