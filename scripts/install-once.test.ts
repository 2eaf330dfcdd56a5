import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

/** A script that ends when there is a file of that name. */
const UNTIL_GO = `node -e "setInterval(() => require('fs').existsSync('go') && process.exit(), 20)"`;

/**
 * A script that does not hear of the first interrupt, as a program that its shell is just starting (that one comes twice:
 * from the group, and handed on by npm), and ends at the next.
 */
const MISSES_AN_INTERRUPT = `exec node -e "let heard = 0; process.on('SIGINT', () => ++heard > 2 && process.exit(1)); require('fs').writeFileSync('listens', ''); setInterval(() => 0, 1000)"`;

/** A checkout whose only dependency lies in it, so that the real `npm ci` installs it without a network. */
function checkout({ preinstall = "exit 0", bundledNode = "" } = {}): string {
  const root = mkdtempSync(join(tmpdir(), "checkout-"));
  mkdirSync(join(root, "scripts"));
  mkdirSync(join(root, "node", "bin"), { recursive: true });
  copyFileSync(fileURLToPath(new URL("install-once.mjs", import.meta.url)), join(root, "scripts", "install-once.mjs"));
  const scripts = { preinstall: `echo installed >> installs && ${preinstall}` };
  write(root, "package.json", { ...manifest, scripts });
  write(root, "node/package.json", dependency);
  if (bundledNode) writeFileSync(join(root, "node", dependency.bin.node), bundledNode, { mode: 0o755 });
  writeLock(root);
  return root;
}

const bin = { node: `bin/${process.platform === "win32" ? "node.exe" : "node"}` };
const dependency = { name: "node", version: "1.0.0", bin };
const manifest = { name: "checkout", version: "1.0.0", workspaces: ["node"], dependencies: { node: "1.0.0" } };

function writeLock(root: string, description?: string): void {
  const packages = { "": manifest, node: dependency, "node_modules/node": { resolved: "node", link: true } };
  write(root, "package-lock.json", { ...manifest, lockfileVersion: 3, requires: true, packages, description });
}

function write(root: string, file: string, content: object): void {
  writeFileSync(join(root, file), JSON.stringify(content));
}

function start(root: string): {
  process: ChildProcess;
  /** What it has said so far. */
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

/** Windows has neither process groups nor signals that a child could answer. */
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

test("another lock file or a damaged marker means a new install", async () => {
  const root = checkout();
  await start(root).ended;
  writeLock(root, "changed");
  await start(root).ended;
  expect(installsIn(root)).toBe(2);
  writeFileSync(markerOf(root), createHash("sha256").update("else").digest());
  await start(root).ended;
  expect(installsIn(root)).toBe(3);
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

posixTest("after a kill -9 the next start waits for the npm that is left, then installs", async () => {
  const root = checkout({ preinstall: UNTIL_GO });
  const first = start(root);
  await until(() => existsSync(join(root, "installs")));
  first.process.kill("SIGKILL");
  // Not the end of its stderr, which the npm that is left still holds.
  await new Promise((resolve) => first.process.on("exit", resolve));
  expect(existsSync(markerOf(root))).toBe(false);

  const second = start(root);
  await until(() => second.said.err.includes("waiting for it"));
  writeFileSync(join(root, "go"), "");
  expect((await second.ended).code).toBe(0);
  expect(installsIn(root)).toBe(2);
  expect([existsSync(markerOf(root)), existsSync(lockOf(root))]).toEqual([true, false]);
});

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
