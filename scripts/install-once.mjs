// Runs before `npm start` and `npm test`: installs the dependencies if this checkout lacks them. This is plain
// JavaScript without dependencies, because it runs before the install and on any Node from 20 on.
//
//   marker names this lock file and platform ──▶ nothing to do
//   else ──▶ take the lock ──┬▶ npm's own record is complete ───────────────────────────┬▶ write the marker ──▶ free the lock
//                            └▶ else: remove the marker ──▶ npm ci ──▶ check Node ──────┘
//
// Only a complete install has a marker, so the next start repeats an interrupted install. All messages go to stderr:
// stdout belongs to the program that starts next.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { basename, join, sep } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const neededNode = 24;
const longestWaitMs = 10 * 60_000;
const longestStopMs = 10_000;
const windows = process.platform === "win32";
const root = fileURLToPath(new URL("..", import.meta.url));
const modules = join(root, "node_modules");
const marker = join(modules, ".banyan-installed");
const lock = join(root, ".banyan-installing");
const bundledNode = join(modules, "node", "bin", windows ? "node.exe" : "node");

const wanted = (() => {
  const digest = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
  return `${digest} ${process.platform}-${process.arch}\n`;
})();

if (!isInstalled()) {
  await takeLock();
  // Another start may have installed while this one waited for the lock.
  const exitCode = isInstalled() || adoptUsersInstall() ? 0 : await install();
  rmSync(lock, { force: true });
  if (exitCode !== 0) process.exit(exitCode);
}
if (!hasNode()) process.exit(1);

function isInstalled() {
  return readOrEmpty(marker) === wanted;
}

/**
 * Writes the marker if the user's own `npm ci` or `npm install` was complete. npm writes its record of node_modules
 * last, after the install scripts, and `npm ci` removes the record first. So an interrupted install has no record or a
 * wrong one.
 */
function adoptUsersInstall() {
  const { packages: { "": _root, ...locked } = {} } = readJson(join(root, "package-lock.json")) ?? {};
  const { packages: installed } = readJson(join(modules, ".package-lock.json")) ?? {};
  if (!installed || !Object.keys(installed).every((path) => path in locked)) return false;
  const isComplete = Object.entries(locked).every(([path, entry]) =>
    path in installed
      ? JSON.stringify(installed[path]) === JSON.stringify(entry) && isOnDisk(path, entry)
      : entry.optional && !isForThisPlatform(entry),
  );
  if (!isComplete || !findsNode()) return false;
  dropUnusableNode();
  writeFileSync(marker, wanted);
  return true;
}

function isForThisPlatform({ os, cpu, libc }) {
  const includes = (list, value) =>
    list === undefined || list.includes(value) || (list[0]?.startsWith("!") && !list.includes(`!${value}`));
  if (os === undefined && cpu === undefined) return false;
  return includes(os, process.platform) && includes(cpu, process.arch) && (!libc || includes(libc, ownLibc()));
}

function ownLibc() {
  return process.report.getReport().header.glibcVersionRuntime ? "glibc" : "musl";
}

/** Returns whether a package's folder has the locked version. A link leads to a folder of this project. */
function isOnDisk(path, { link, version }) {
  const manifest = readJson(join(root, path, "package.json"));
  return manifest !== undefined && (link || manifest.version === version);
}

/** Runs `npm ci`. Returns the exit code of this script. A failure was already reported. */
async function install() {
  say("Installing Banyan's dependencies (once, usually 10 to 30 seconds) ...");
  rmSync(marker, { force: true });
  moveOwnNodeAside();
  const { code, signal } = await npmCi();
  if (signal) {
    say("The installation was interrupted. Run the same command again to begin it anew.");
    return 128 + constants.signals[signal];
  }
  if (code !== 0) {
    say(
      `Banyan's dependencies could not be installed: npm ci ended with code ${code}, its reason is above. ` +
        "Check that npm reaches its registry (npm ping) and that the disk has 500 MB free, then run the same command again.",
    );
    return 1;
  }
  dropUnusableNode();
  writeFileSync(marker, wanted);
  return 0;
}

/** Runs `npm ci` without output on stdout, and passes on the signals of this process. */
function npmCi() {
  // --include: the user's production setting must not leave out the compiler or a platform's binaries.
  const ci = [
    "ci",
    "--loglevel=error",
    "--no-fund",
    "--no-audit",
    "--prefer-offline",
    "--include=dev",
    "--include=optional",
  ];
  const cli = process.env.npm_execpath;
  const [command, args] =
    cli && basename(cli) === "npm-cli.js"
      ? [process.env.npm_node_execpath ?? process.execPath, [cli, ...ci]]
      : ["npm", ci];
  // A separate process group shows whether npm still runs after this process was killed.
  const child = spawn(command, args, {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
    detached: !windows,
    shell: windows && command === "npm",
  });
  if (child.pid) writeFileSync(lock, `${process.pid} ${child.pid}\n`);

  return new Promise((resolve) => {
    let stoppedBy;
    let repeating;
    const stop = (signal) => {
      if (isRunning(child.pid)) process.kill(windows ? child.pid : -child.pid, signal);
    };
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) {
      process.on(name, () => {
        stoppedBy = name;
        stop(name);
        // A signal can be lost: a shell that is starting a program swallows the signal (dash does), and npm waits for
        // its shell. So repeat the signal until npm has ended, finally with SIGKILL.
        const killAt = Date.now() + longestStopMs;
        clearInterval(repeating);
        repeating = setInterval(() => stop(Date.now() < killAt ? name : "SIGKILL"), 300);
      });
    }
    child.on("error", (error) => {
      say(`npm could not be started (${error.message}). It comes with Node; see https://nodejs.org.`);
      resolve({ code: 1 });
    });
    child.on("exit", (code, signal) => {
      clearInterval(repeating);
      resolve({ code, signal: stoppedBy ?? signal });
    });
  });
}

/** Windows cannot remove a running program, but can rename it: `npm ci` must be able to clear node_modules. */
function moveOwnNodeAside() {
  if (!windows || !process.execPath.startsWith(modules + sep)) return;
  const aside = join(root, ".banyan-installing.exe");
  rmSync(aside, { force: true });
  renameSync(process.execPath, aside);
}

/** If the bundled Node does not run here (musl), it must not hide the system's own Node. */
function dropUnusableNode() {
  if (existsSync(bundledNode) && majorOf(bundledNode) === 0) {
    for (const ending of ["", ".cmd", ".ps1"]) rmSync(join(modules, ".bin", `node${ending}`), { force: true });
  }
}

/** Returns whether the scripts of package.json find a suitable Node: this one, or the one in node_modules. */
function findsNode() {
  return majorOf(process.execPath) >= neededNode || majorOf(bundledNode) >= neededNode;
}

/** Without a suitable Node, prints the remedy and removes the marker. */
function hasNode() {
  if (findsNode()) return true;
  rmSync(marker, { force: true });
  say(
    `Banyan needs Node ${neededNode} or newer; this is Node ${process.versions.node}, and npm did not install a newer one ` +
      "into node_modules. Install it from https://nodejs.org, or let npm run the install script of the package `node` " +
      "(npm config set ignore-scripts false), then run the same command again.",
  );
  return false;
}

function majorOf(program) {
  if (program === process.execPath) return Number.parseInt(process.versions.node, 10);
  const { status, stdout } = spawnSync(program, ["--version"], { encoding: "utf8" });
  return status === 0 ? Number.parseInt(stdout.slice(1), 10) : 0;
}

/**
 * Waits until no other start is installing. The lock names this process and its npm, so that a lock left by a crash is
 * detected.
 */
async function takeLock() {
  const deadline = Date.now() + longestWaitMs;
  for (let told = false; ; told = true) {
    try {
      writeFileSync(lock, `${process.pid}\n`, { flag: "wx" });
      return;
    } catch (error) {
      if (error.code !== "EEXIST") {
        say(`Banyan's folder cannot be written, so nothing can be installed: ${error.message}`);
        process.exit(1);
      }
    }
    const owner = readOrEmpty(lock);
    if (isAbandoned(owner)) {
      dropLockOf(owner);
      continue;
    }
    if (Date.now() > deadline) {
      say(
        `Another start has been installing for 10 minutes. If none is, delete ${lock} and run the same command again.`,
      );
      process.exit(1);
    }
    if (!told) say("Another start is installing Banyan's dependencies; waiting for it ...");
    await sleep(200);
  }
}

/** Returns whether the processes of a lock have ended. An empty lock is either new or left by a crash. */
function isAbandoned(owner) {
  if (owner.trim() !== "")
    return !owner
      .trim()
      .split(" ")
      .some((pid) => isRunning(Number(pid)));
  const written = statSync(lock, { throwIfNoEntry: false })?.mtimeMs;
  return written !== undefined && Date.now() - written > 5_000;
}

/**
 * Removes the lock of a dead owner. Two starts may try at once: the later one restores a lock that it took by mistake.
 */
function dropLockOf(owner) {
  const taken = `${lock}-${process.pid}`;
  try {
    renameSync(lock, taken);
    if (readOrEmpty(taken) === owner) rmSync(taken);
    else renameSync(taken, lock);
  } catch {}
}

function isRunning(pid) {
  // In a container without an init, zombies remain: on Linux their state shows that they have ended.
  if (readOrEmpty(`/proc/${pid}/stat`).includes(") Z ")) return false;
  return [pid, windows ? pid : -pid].some((id) => {
    try {
      return process.kill(id, 0);
    } catch (error) {
      return error.code === "EPERM";
    }
  });
}

function readOrEmpty(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

function say(sentence) {
  process.stderr.write(`${sentence}\n`);
}
