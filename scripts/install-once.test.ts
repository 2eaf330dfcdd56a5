import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";

/** This script ends when a file `go` exists. */
const UNTIL_GO = `node -e "setInterval(() => require('fs').existsSync('go') && process.exit(), 20)"`;

/**
 * A script that misses the first interrupt, like a program that its shell is just starting, and ends at the next. The
 * first interrupt comes twice: from the process group, and passed on by npm.
 */
const MISSES_AN_INTERRUPT = `exec node -e "let heard = 0; process.on('SIGINT', () => ++heard > 2 && process.exit(1)); require('fs').writeFileSync('listens', ''); setInterval(() => 0, 1000)"`;

/** Creates a checkout whose only dependency is inside, so that the real `npm ci` installs it without a network. */
function checkout({ preinstall = "exit 0", bundledNode = "" } = {}): string {
  const root = mkdtempSync(join(tmpdir(), "checkout-"));
  mkdirSync(join(root, "scripts"));
  mkdirSync(join(root, "node", "bin"), { recursive: true });
  copyFileSync(fileURLToPath(new URL("install-once.mjs", import.meta.url)), join(root, "scripts", "install-once.mjs"));
  const scripts = { preinstall: `cd .. && echo installed >> installs && ${preinstall}` };
  write(root, "package.json", manifest);
  write(root, "node/package.json", { name: "node", version: "1.0.0", bin, scripts });
  if (bundledNode) writeFileSync(join(root, "node", bin.node), bundledNode, { mode: 0o755 });
  writeLock(root);
  return root;
}

const bin = { node: `bin/${process.platform === "win32" ? "node.exe" : "node"}` };
const manifest = { name: "checkout", version: "1.0.0", workspaces: ["node"], dependencies: { node: "1.0.0" } };

/** Writes the lock file like npm, so that npm's record of an install equals the lock file. */
function writeLock(root: string, license?: string): void {
  const packages = {
    "": manifest,
    node: { version: "1.0.0", hasInstallScript: true, license, bin },
    "node_modules/node": { resolved: "node", link: true },
  };
  write(root, "package-lock.json", { ...manifest, lockfileVersion: 3, requires: true, packages });
}

function write(root: string, file: string, content: object): void {
  writeFileSync(join(root, file), JSON.stringify(content));
}

function start(root: string): {
  process: ChildProcess;
  said: { out: string; err: string };
  ended: Promise<{ code: number | null; out: string; err: string }>;
} {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_(config|package)_/i.test(name)));
  const child = spawn(process.execPath, [join(root, "scripts", "install-once.mjs")], { cwd: root, env });
  const said = { out: "", err: "" };
  child.stdout.on("data", (chunk) => (said.out += chunk));
  child.stderr.on("data", (chunk) => (said.err += chunk));
  return {
    process: child,
    said,
    ended: new Promise((resolve) => child.on("close", (code) => resolve({ code, ...said }))),
  };
}

/** Windows has neither process groups nor signals that a child process can handle. */
const posixTest = test.skipIf(process.platform === "win32");

const lockOf = (root: string) => join(root, ".banyan-installing");
const markerOf = (root: string) => join(root, "node_modules", ".banyan-installed");
const installsIn = (root: string) => readFileSync(join(root, "installs"), "utf8").trim().split("\n").length;

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(20);
}

test("a fresh checkout is installed, and stdout stays empty for the program that follows", async () => {
  const root = checkout();
  const first = await start(root).ended;
  expect(first).toMatchObject({ code: 0, out: "" });
  expect(first.err).toMatch(/^Installing Banyan's dependencies .*\n$/);
  expect(existsSync(join(root, "node_modules", "node", "package.json"))).toBe(true);
  expect(existsSync(lockOf(root))).toBe(false);
});

test("a complete install is left alone, without a word", async () => {
  const root = checkout();
  await start(root).ended;
  expect(await start(root).ended).toEqual({ code: 0, out: "", err: "" });
  expect(installsIn(root)).toBe(1);
});

test("another lock file means a new install", async () => {
  const root = checkout();
  await start(root).ended;
  writeLock(root, "changed");
  await start(root).ended;
  expect(installsIn(root)).toBe(2);
});

test("a damaged marker is written again if npm's record says that the install is complete", async () => {
  const root = checkout();
  await start(root).ended;
  const marker = readFileSync(markerOf(root), "utf8");
  writeFileSync(markerOf(root), createHash("sha256").update("else").digest());
  expect(await start(root).ended).toEqual({ code: 0, out: "", err: "" });
  expect([installsIn(root), readFileSync(markerOf(root), "utf8")]).toEqual([1, marker]);
});

describe("a checkout in which the user ran npm", () => {
  const npm = (root: string, ...args: string[]) =>
    execFileSync("npm", [...args, "--offline", "--silent"], { cwd: root, shell: process.platform === "win32" });

  let more: string;

  function withMore(): string {
    const root = mkdtempSync(join(tmpdir(), "checkout-"));
    cpSync(more, root, { recursive: true });
    return root;
  }

  beforeAll(() => {
    const root = checkout();
    const packages = { tool: {}, here: { os: [process.platform] }, elsewhere: { os: ["aix"] } };
    for (const [name, platform] of Object.entries(packages)) {
      mkdirSync(join(root, name));
      write(root, `${name}/package.json`, { name, version: "1.0.0", ...platform });
    }
    npm(root, "pack", ...Object.keys(packages).map((name) => `./${name}`));
    write(root, "package.json", {
      ...manifest,
      devDependencies: { tool: "file:tool-1.0.0.tgz" },
      optionalDependencies: { here: "file:here-1.0.0.tgz", elsewhere: "file:elsewhere-1.0.0.tgz" },
    });
    rmSync(join(root, "package-lock.json"));
    npm(root, "install", "--package-lock-only");
    more = root;
  });

  const isThere = (root: string, name: string) => existsSync(join(root, "node_modules", name, "package.json"));

  test.each(["ci", "install"])("with npm %s starts at once, and says nothing", async (command) => {
    const root = withMore();
    npm(root, command);
    expect(isThere(root, "elsewhere")).toBe(false);
    expect(await start(root).ended).toEqual({ code: 0, out: "", err: "" });
    expect([installsIn(root), existsSync(markerOf(root)), existsSync(lockOf(root))]).toEqual([1, true, false]);
  });

  test.each([
    ["tool", "without development dependencies", ["ci", "--omit=dev"]],
    ["here", "without optional dependencies", ["ci", "--omit=optional"]],
    ["tool", "and then removed a package", ["ci"]],
  ])("gets %s if the user installed %s", async (missing, _how, command) => {
    const root = withMore();
    npm(root, ...command);
    rmSync(join(root, "node_modules", missing), { recursive: true, force: true });
    expect((await start(root).ended).err).toMatch(/^Installing/);
    expect(isThere(root, missing)).toBe(true);
  });
});

test("two starts at once install once; the second waits and says so", async () => {
  const root = checkout({ preinstall: UNTIL_GO });
  const first = start(root);
  await until(() => existsSync(lockOf(root)));
  const second = start(root);
  await until(() => second.said.err !== "");
  writeFileSync(join(root, "go"), "");
  expect((await second.ended).err).toMatch(/^Another start is installing Banyan's dependencies; waiting/);
  expect((await first.ended).code).toBe(0);
  expect((await second.ended).code).toBe(0);
  expect(installsIn(root)).toBe(1);
});

posixTest("an interrupted install leaves no marker, and the next start installs", async () => {
  const root = checkout({ preinstall: UNTIL_GO });
  const first = start(root);
  await until(() => existsSync(join(root, "installs")));
  first.process.kill("SIGINT");
  const { code, err } = await first.ended;
  expect(code).toBe(130);
  expect(err).toContain("Run the same command again");
  expect([existsSync(markerOf(root)), existsSync(lockOf(root))]).toEqual([false, false]);

  writeFileSync(join(root, "go"), "");
  expect((await start(root).ended).code).toBe(0);
  expect(existsSync(markerOf(root))).toBe(true);
});

posixTest("an install that missed the first signal is interrupted all the same", async () => {
  const root = checkout({ preinstall: MISSES_AN_INTERRUPT });
  const first = start(root);
  await until(() => existsSync(join(root, "listens")));
  first.process.kill("SIGINT");
  expect((await first.ended).code).toBe(130);
  expect([existsSync(markerOf(root)), existsSync(lockOf(root))]).toEqual([false, false]);
});

posixTest("after a kill -9 of npm too, the next start installs", async () => {
  const root = checkout({ preinstall: UNTIL_GO });
  const first = start(root);
  await until(() => existsSync(join(root, "installs")));
  const [, npm] = readFileSync(lockOf(root), "utf8").split(" ");
  process.kill(-Number(npm), "SIGKILL");
  first.process.kill("SIGKILL");
  await first.ended;
  writeFileSync(join(root, "go"), "");
  expect((await start(root).ended).err).toMatch(/^Installing/);
  expect([installsIn(root), existsSync(markerOf(root))]).toEqual([2, true]);
});

posixTest(
  "after a kill -9 the next start waits for the npm that is left, and takes its install if it is complete",
  async () => {
    const root = checkout({ preinstall: UNTIL_GO });
    const first = start(root);
    await until(() => existsSync(join(root, "installs")));
    first.process.kill("SIGKILL");
    // Do not wait for the end of its stderr, which the remaining npm still holds.
    await new Promise((resolve) => first.process.on("exit", resolve));
    expect(existsSync(markerOf(root))).toBe(false);

    const second = start(root);
    await until(() => second.said.err.includes("waiting for it"));
    writeFileSync(join(root, "go"), "");
    expect((await second.ended).code).toBe(0);
    expect(installsIn(root)).toBe(1);
    expect([existsSync(markerOf(root)), existsSync(lockOf(root))]).toEqual([true, false]);
  },
);

test("a lock whose owner is gone holds nobody up", async () => {
  const root = checkout();
  const gone = spawn(process.execPath, ["--version"]);
  await new Promise((resolve) => gone.on("close", resolve));
  writeFileSync(lockOf(root), `${gone.pid}\n`);
  expect(await start(root).ended).toMatchObject({ code: 0, err: expect.stringMatching(/^Installing/) });
});

test("a failed install says what to do, and leaves no marker", async () => {
  const root = checkout();
  await start(root).ended;
  write(root, "package-lock.json", {});
  const { code, out, err } = await start(root).ended;
  expect([code, out]).toEqual([1, ""]);
  expect(err).toContain("npm ci ended with code 1");
  expect(err).toContain("run the same command again");
  expect([existsSync(markerOf(root)), existsSync(lockOf(root))]).toEqual([false, false]);
});

test("a bundled Node that this system cannot run is dropped, so that the system's own is found", async () => {
  const root = checkout({ bundledNode: "not a program" });
  expect((await start(root).ended).code).toBe(0);
  expect(existsSync(join(root, "node_modules", "node"))).toBe(true);
  expect(existsSync(join(root, "node_modules", ".bin", "node"))).toBe(false);
  expect(existsSync(markerOf(root))).toBe(true);
});
