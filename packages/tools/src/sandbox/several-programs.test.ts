import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { until } from "../workspace/commands/processes.fixture.ts";
import { TestFolder } from "../workspace/test-folder.fixture.ts";
import { holdersFolder, makeHolder } from "./holder.ts";
import { openSandbox } from "./index.ts";
import { SandboxProgram, type User } from "./programs.fixture.ts";
import { sandboxOf, startIn, whyNoSandbox } from "./sandbox.fixture.ts";

const reason = await whyNoSandbox();
const isRoot = process.getuid?.() === 0;
const isLong = process.env.BANYAN_LONG === "1";
beforeEach(({ skip }) => {
  if (reason !== undefined) skip(reason);
});

/** Missing paths in a new repository that no command may create. */
const MISSING = [
  ...[".git/commondir", ".mcp.json", ".envrc", ".vscode", ".idea", ".claude", ".cursor", ".banyan"],
  ...["commondir", "refs"],
];

/** Tries to create each path in several ways, and prints `made` for each success. */
function attackOn(paths: readonly string[]): string {
  return `for F in ${paths.join(" ")}; do
    rmdir "$F"; rm -f "$F"; mv "$F" "$F-away"; echo evil > "$F"; mkdir "$F"; echo evil > "$F/evil"; ln -s / "$F/evil-link"; mv x "$F"
    if grep -sq evil "$F" || [ -e "$F/evil" ] || [ -h "$F" ]; then echo "made $F"; fi
  done 2>/dev/null; echo tried`;
}

/** Returns paths that exist in the folder and must not. */
function madeIn(folder: TestFolder, paths: readonly string[]): readonly string[] {
  return paths.filter((path) => {
    const file = folder.path(path);
    if (!existsSync(file)) return false;
    try {
      return readFileSync(file, "utf8") !== ".\n";
    } catch {
      return existsSync(`${file}/evil`);
    }
  });
}

function repository(user?: User): TestFolder {
  const folder = new TestFolder();
  execFileSync("git", ["init", "-q", folder.root]);
  if (user) giveTo(user, folder.root);
  return folder;
}

/** No other process runs as this user. */
const ORDINARY = 60_000 + (process.pid % 5000);
const LOCKS = `/tmp/banyan-sandboxes-${ORDINARY}`;
afterEach(() => rmSync(LOCKS, { recursive: true, force: true }));

function ordinaryUser(folder: TestFolder): User {
  const user = { uid: ORDINARY, home: folder.path("home") };
  mkdirSync(user.home);
  giveTo(user, user.home);
  return user;
}

/** Gives the user a folder of the test, and access to it. */
function giveTo({ uid }: User, path: string): void {
  execFileSync("chown", ["-R", `${uid}:${uid}`, path]);
  // In another user's folder, a sandboxed command of root has no special rights.
  execFileSync("chmod", ["-R", "a+rwX", path]);
  for (let above = dirname(path); above !== tmpdir(); above = dirname(above)) chmodSync(above, 0o755);
  chmodSync(tmpdir(), 0o755);
}

/** A command that waits for a file and then attacks. */
const waiting = (up: string, go: string, then = "true") =>
  `touch ${up}; until [ -e ${go} ]; do sleep 0.02; done; ${then}`;

/** Runs a command in each program. The second command attacks after the first has ended in the given way. */
async function attackAfter(
  folder: TestFolder,
  [first, second]: readonly [SandboxProgram, SandboxProgram],
  end: () => Promise<unknown>,
  paths = MISSING,
): Promise<string> {
  const ofFirst = first.run(waiting("first-up", "first-go"));
  await until(() => existsSync(folder.path("first-up")));
  const ofSecond = second.run(waiting("second-up", "second-go", attackOn(paths)));
  await until(() => existsSync(folder.path("second-up")));
  await end();
  await ofFirst;
  folder.add("second-go", "");
  return ofSecond;
}

/** Returns the remaining placeholders. */
const left = (folder: TestFolder) => MISSING.filter((path) => existsSync(folder.path(path)));

describe("S30: a command makes nothing that is missing and protected", () => {
  test.each([
    [
      "when the program that made the placeholders exits",
      async (first: SandboxProgram, folder: TestFolder) => {
        folder.add("first-go", "");
        await first[Symbol.asyncDispose]();
      },
    ],
    ["when that program is killed", (first: SandboxProgram) => first.kill("program")],
    ["when the process of its sandbox is killed", (first: SandboxProgram) => first.kill("sandbox")],
    ["when both are killed", (first: SandboxProgram) => first.kill("both")],
  ])("%s", async (_, end) => {
    using folder = repository();
    await using first = await SandboxProgram.start(folder.root);
    await using second = await SandboxProgram.start(folder.root);
    const said = await attackAfter(folder, [first, second], async () => {
      await end(first, folder);
      // A third program cleans up after the killed ones.
      await using third = await SandboxProgram.start(folder.root);
      expect(await third.run(attackOn(MISSING))).toBe("tried\n");
      folder.add("first-go", "");
    });
    expect(said).toBe("tried\n");
    expect(madeIn(folder, MISSING)).toEqual([]);
    await second[Symbol.asyncDispose]();
    await until(() => left(folder).length === 0);
  });

  test.runIf(isRoot).each([
    ["root", "an ordinary user"],
    ["an ordinary user", "root"],
  ])("when %s exits while a command of %s runs", async (who) => {
    using others = new TestFolder();
    const user = ordinaryUser(others);
    using folder = repository(user);
    await using first = await SandboxProgram.start(folder.root, who === "root" ? undefined : user);
    await using second = await SandboxProgram.start(folder.root, who === "root" ? user : undefined);
    const said = await attackAfter(folder, [first, second], async () => {
      writeFileSync(folder.path("first-go"), "");
      await first[Symbol.asyncDispose]();
    });
    expect(said).toBe("tried\n");
    expect(madeIn(folder, MISSING)).toEqual([]);
    await second[Symbol.asyncDispose]();
    await until(() => left(folder).length === 0);
  });

  test("in a repository below that another program works in", async () => {
    using folder = repository();
    execFileSync("git", ["init", "-q", folder.path("sub")]);
    await using first = await SandboxProgram.start(folder.path("sub"));
    await using second = await SandboxProgram.start(folder.root);
    const ofFirst = first.run(waiting("first-up", "first-go"));
    await until(() => existsSync(folder.path("sub/first-up")));
    const said = second.run(waiting("second-up", "second-go", attackOn(["sub/.git/commondir"])));
    await until(() => existsSync(folder.path("second-up")));
    folder.add("sub/first-go", "");
    await ofFirst;
    await first[Symbol.asyncDispose]();
    expect(existsSync(folder.path("sub/.git/commondir"))).toBe(true);
    folder.add("second-go", "");
    expect(await said).toBe("tried\n");
    await second[Symbol.asyncDispose]();
    expect(existsSync(folder.path("sub/.git/commondir"))).toBe(false);
  });

  test("in a repository that a linked work tree shares", async () => {
    using folder = repository();
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], { cwd: folder.root });
    git("commit", "-q", "--allow-empty", "-m", "x");
    git("worktree", "add", "-q", folder.path("../tree"));
    await using first = await SandboxProgram.start(folder.path("../tree"));
    await using second = await SandboxProgram.start(folder.root);
    const ofFirst = first.run(waiting("first-up", "first-go"));
    await until(() => existsSync(folder.path("../tree/first-up")));
    const said = second.run(
      waiting("second-up", "second-go", attackOn([".git/commondir", ".git/worktrees/tree/hooks"])),
    );
    await until(() => existsSync(folder.path("second-up")));
    folder.add("../tree/first-go", "");
    await ofFirst;
    await first[Symbol.asyncDispose]();
    folder.add("second-go", "");
    expect(await said).toBe("tried\n");
  });

  test("while four programs start, run commands and exit at random", async () => {
    using folder = repository();
    const runs = async () => {
      for (let round = 0; round < (isLong ? 40 : 2); round += 1) {
        await using program = await SandboxProgram.start(folder.root);
        for (let command = 0; command < 3; command += 1)
          expect(await program.run(`sleep 0.0${Math.floor(Math.random() * 9)}; ${attackOn(MISSING)}`)).toBe("tried\n");
      }
    };
    await Promise.all([runs(), runs(), runs(), runs()]);
    expect(madeIn(folder, MISSING)).toEqual([]);
    await until(() => left(folder).length === 0);
  });
});

describe("S30: placeholders", () => {
  test("a program whose sandbox was killed refuses commands; its placeholders stay until its last command has ended", async () => {
    using folder = repository();
    await using program = await SandboxProgram.start(folder.root);
    const runs = program.run(waiting("up", "go", attackOn(MISSING)));
    await until(() => existsSync(folder.path("up")));
    await program.kill("sandbox");
    await until(() => existsSync(folder.path("up")));
    expect(await program.run("touch outside")).toBe(
      "refused: The command did not run, because the sandbox has ended. Restart the program.",
    );
    folder.add("go", "");
    // The command ran on, but its call is no success (T67).
    expect(await runs).toMatch(/^refused: tried\n\[the sandbox ended before the command/);
    await until(() => left(folder).length === 0);
    expect(folder.names()).toEqual([".git", "go", "up"]);
  });

  test("go with the next sandbox when both processes were killed, and nothing of the user goes with them", async () => {
    using folder = repository();
    mkdirSync(folder.path(".idea"));
    const program = await SandboxProgram.start(folder.root);
    const runs = program.run(waiting("up", "go"));
    await until(() => existsSync(folder.path("up")));
    // The user replaces one placeholder by a file, and puts a file into another.
    rmdirSync(folder.path(".envrc"));
    folder.add(".envrc", "mine");
    folder.add(".vscode/tasks.json", "mine");
    await program.kill("both");
    await runs;
    expect(folder.names()).toContain(".mcp.json");
    using other = new TestFolder();
    await using _ = await sandboxOf(other);
    expect(folder.names()).toEqual([".envrc", ".git", ".idea", ".vscode", "up"]);
    expect(existsSync(folder.path(".git/commondir"))).toBe(false);
  });

  test("are none of the repositories that are put aside", async () => {
    using folder = repository();
    mkdirSync(folder.path("sub"));
    await using outer = await SandboxProgram.start(folder.root);
    const link = "git update-index --add --cacheinfo 160000,1111111111111111111111111111111111111111,sub";
    const runs = outer.run(waiting("up", "go", link));
    await until(() => existsSync(folder.path("up")));
    await using inner = await SandboxProgram.start(folder.path("sub"));
    const ofInner = inner.run(waiting("up", "go", attackOn([".git"])));
    await until(() => existsSync(folder.path("sub/up")));
    folder.add("go", "");
    expect(await runs).not.toContain("put-aside");
    folder.add("sub/go", "");
    expect(await ofInner).toBe("tried\n");
  });

  test("cannot be given up by a command: it neither sees nor writes what programs publish", async () => {
    using folder = repository();
    const holders = holdersFolder();
    const opening = await openSandbox({ root: folder.root, writable: [holders] });
    if (!opening.available) throw new Error(opening.reason);
    await using sandbox = opening.sandbox;
    expect(opening.notices).toEqual([
      `Commands in the sandbox cannot write to ${holders} (sandbox.writable): Banyan keeps its own files there.`,
    ]);
    const before = readdirSync(holders);
    expect(before.length).toBeGreaterThan(0);
    const forge = `ls -A ${holders}; for H in ${before.join(" ")}; do rm -rf ${holders}/$H; mkdir -p ${holders}/$H/removing; done; rm -rf ${holders}; mv ${holders} ${holders}-away`;
    await using child = await startIn(sandbox, folder, `(${forge}) 2>/dev/null; ${attackOn(MISSING)}`);
    expect(await text(child.stdout as Readable)).toBe("tried\n");
    expect(readdirSync(holders).some((name) => before.includes(name))).toBe(true);
    expect(madeIn(folder, MISSING)).toEqual([]);
  });

  test.runIf(isRoot)("there is no sandbox where another user has the folder of its locks", async () => {
    using others = new TestFolder();
    const user = ordinaryUser(others);
    using folder = repository(user);
    mkdirSync(LOCKS);
    const { program, why } = await SandboxProgram.tryToStart(folder.root, user);
    await program[Symbol.asyncDispose]();
    expect(why).toBe(
      `Commands cannot run in a sandbox: ${LOCKS} belongs to another user; remove this folder, in which sandboxes keep their locks.`,
    );
  });

  test.runIf(isLong)(
    "a command is refused when another program does not finish its removal",
    { timeout: 60_000 },
    async () => {
      using folder = repository();
      await using program = await SandboxProgram.start(folder.root);
      const stuck = makeHolder(folder.path("base"), "/usr/bin/mkfifo");
      stuck.setRemoving(true);
      try {
        expect(await program.run("touch made")).toBe(
          `refused: The command did not run, because its sandbox failed: another program does not end its work in ${stuck.folder}`,
        );
        expect(existsSync(folder.path("made"))).toBe(false);
      } finally {
        stuck.remove();
      }
      expect(await program.run("echo again")).toBe("again\n");
    },
  );
});
