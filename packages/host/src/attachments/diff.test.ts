import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSandbox, type Sandbox } from "@banyan/tools/sandbox";
import { afterAll, beforeAll, expect, test } from "vitest";
import { attachNamedFiles } from "./attach.ts";
import { namedDiff } from "./diff.ts";

let folder: string;
let sandbox: Sandbox | undefined;
const git = (...args: string[]) =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: folder, stdio: "pipe" });
const at = (name: string, text: string) => writeFileSync(join(folder, name), text);
const commit = (message: string) => {
  git("add", ".");
  git("commit", "-qm", message);
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "banyan-diff-"));
  git("init", "-q", "-b", "main");
  at("a.txt", "first\n");
  commit("first");
  git("checkout", "-qb", "work");
  at("a.txt", "of the branch\n");
  commit("second");
  git("checkout", "-q", "main");
  at("b.txt", "later on main\n");
  commit("third");
  git("checkout", "-q", "work");
  at("a.txt", "not committed\n");
  at("new.txt", "new\n");
  const opening = await openSandbox({ root: folder });
  if (opening.available) sandbox = opening.sandbox;
});
afterAll(async () => {
  await sandbox?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const changes = (of?: string, cwd = folder) => namedDiff(of, { cwd, sandbox, env: process.env });

test("C15: @diff is the uncommitted changes, the changes since a branch, of a commit, or between two", async (context) => {
  if (!sandbox) return context.skip("There is no sandbox here.");
  expect(await changes()).toMatch(
    /\n-of the branch\n\+not committed\nNew files that git does not track yet:\nnew\.txt\n$/,
  );
  const since = await changes("main");
  expect(since).toMatch(/\n-first\n\+not committed\n$/);
  expect(since).not.toContain("b.txt");
  const last = execFileSync("git", ["rev-parse", "HEAD"], { cwd: folder, encoding: "utf8" }).trim();
  expect(await changes(last)).toMatch(/second[\s\S]*\n-first\n\+of the branch\n$/);
  expect(await changes("main...work")).toMatch(/\n-first\n\+of the branch\n$/);
});

test("C15: @diff with an unknown name or an option of git is an error", async (context) => {
  if (!sandbox) return context.skip("There is no sandbox here.");
  await expect(changes("nowhere")).rejects.toThrow("there is no commit nowhere");
  await expect(changes("--output=x")).rejects.toThrow("there is no commit --output=x");
  await expect(changes("main..main")).rejects.toThrow("nothing has changed");
  await expect(changes(undefined, tmpdir())).rejects.toThrow("there is no git repository");
  expect(readdirSync(folder)).not.toContain("x");
});

test("C15: @diff runs no program that the repository names", async (context) => {
  if (!sandbox) return context.skip("There is no sandbox here.");
  const ran = join(folder, ".git", "ran");
  git("config", "diff.external", `touch ${ran}`);
  git("config", "diff.d.textconv", `touch ${ran}; cat`);
  git("config", "filter.f.clean", `touch ${ran}; cat`);
  mkdirSync(join(folder, ".git", "info"), { recursive: true });
  writeFileSync(join(folder, ".git", "info", "attributes"), "*.txt diff=d filter=f\n");
  expect(await changes()).toContain("+not committed");
  expect(readdirSync(join(folder, ".git"))).not.toContain("ran");
});

test("S16: git does not run without a sandbox, and an error says so", async () => {
  await expect(namedDiff(undefined, { cwd: folder, sandbox: undefined, env: process.env })).rejects.toThrow(
    "git runs only in a sandbox",
  );
});

test("C15: a file named like @diff precedes the diff", async () => {
  const readDiff = async (of: string | undefined) => `the changes of ${of}`;
  const { attached, parts } = await attachNamedFiles("See @diff:main", { folder, readDiff });
  expect(attached).toEqual([{ name: "diff:main", kind: "diff", size: 19 }]);
  expect(parts[1]).toEqual({ type: "text", text: '<diff name="diff:main">\nthe changes of main\n</diff>' });
  at("diff", "a file");
  expect((await attachNamedFiles("See @diff", { folder, readDiff })).attached[0]?.kind).toBe("text");
});

test("F82, K17: @diff names each file as it is called", async (context) => {
  if (!sandbox) return context.skip("There is no sandbox here.");
  const names = [
    "\u00e4 file.txt",
    "cafe\u0301.txt",
    "\u65e5\u672c.txt",
    'say "hi".txt',
    "line\nend.txt",
    "back\\slash.txt",
  ];
  const own = mkdtempSync(join(tmpdir(), "banyan-diff-"));
  const inOwn = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], { cwd: own, stdio: "pipe" });
  const opening = await openSandbox({ root: own });
  if (!opening.available) return context.skip("There is no sandbox here.");
  await using here = opening.sandbox;
  try {
    inOwn("init", "-q", "-b", "main");
    for (const name of names) writeFileSync(join(own, name), "before\n");
    inOwn("add", ".");
    inOwn("commit", "-qm", "first");
    for (const name of names) {
      writeFileSync(join(own, name), "after\n");
      writeFileSync(join(own, `new ${name}`), "new\n");
    }
    const said = await namedDiff(undefined, { cwd: own, sandbox: here, env: process.env });
    const [patch = "", added = ""] = said.split("New files that git does not track yet:\n");
    // git quotes such names with the same escapes as JSON.
    const changed = Array.from(
      patch.matchAll(/^\+\+\+ (?:b\/(.*?)\t?|"b\/(.*)"\t?)$/gm),
      ([, plain, quoted]) => plain ?? JSON.parse(`"${quoted}"`),
    );
    expect(changed.sort()).toEqual([...names].sort());
    const listed = added
      .trimEnd()
      .split("\n")
      .map((name) => (name.startsWith('"') ? JSON.parse(name) : name));
    expect(listed.sort()).toEqual(names.map((name) => `new ${name}`).sort());
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
});
