import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openWorkspace, shellTool } from "../workspace/index.ts";
import { call, TestFolder } from "../workspace/test-folder.fixture.ts";
import type { Sandbox } from "./index.ts";
import { sandboxOf, whyNoSandbox } from "./sandbox.fixture.ts";

const reason = await whyNoSandbox();
let folder: TestFolder;
let sandbox: Sandbox;
beforeEach(async ({ skip }) => {
  if (reason !== undefined) skip(reason);
  folder = new TestFolder({ "a.txt": "a\n" });
  git("init", "-q");
  git("add", "a.txt");
  git("commit", "-q", "-m", "One");
  sandbox = await sandboxOf(folder);
});
afterEach(async () => {
  await sandbox?.[Symbol.asyncDispose]();
  folder?.[Symbol.dispose]();
});

const WHO = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always"];

/** Runs git like the user, outside of the sandbox. */
function git(...args: readonly string[]): string {
  return execFileSync("git", [...WHO, ...args], { cwd: folder.root, encoding: "utf8", stdio: "pipe" });
}

function run(command: string): Promise<string> {
  return call(shellTool(openWorkspace(folder.root), { sandbox }), { command });
}

/** Returns whether a prompt that runs git would start a program that a command planted. */
function looksAndRuns(): boolean {
  for (const look of [["status"], ["diff"], ["status", "--porcelain=2", "--branch"]]) git(...look);
  return existsSync(join(folder.root, "ran"));
}

const commit = `git ${WHO.join(" ")} commit -q --allow-empty -m x`;
const make = (at: string) => `mkdir -p ${at} && git -C ${at} init -q && (cd ${at} && ${commit})`;
const link = (at: string, index = "") =>
  `git ${index} update-index --add --cacheinfo 160000,$(git -C ${at} rev-parse HEAD),${at}`;
const plant = (at: string) =>
  `git -C ${at} config core.fsmonitor 'touch ${"$PWD"}/ran;false'`.replace("$PWD", "'\"$PWD\"'");

describe("S19: a submodule that a command makes runs nothing when a prompt looks", () => {
  const attacks: Readonly<Record<string, string>> = {
    "in the index": `${make("s")} && ${link("s")} && ${plant("s")}`,
    "deep below": `${make("a/b/c/d/e/f")} && ${link("a/b/c/d/e/f")} && ${plant("a/b/c/d/e/f")}`,
    "in a split index": `${make("s")} && git update-index --split-index && ${link("s")} && ${plant("s")}`,
    "in the shared part of a split index": `${make("s")} && ${link("s")} && git update-index --split-index && ${plant("s")}`,
    "in the place of a file of a split index": `mkdir s && echo > s/x && git add s && echo y > t && git add t && git rm -rq --cached s && rm -r s && echo > s && git add s && git update-index --split-index && rm s && ${make("s")} && ${link("s")} && ${plant("s")}`,
    "in an index of version 4": `git update-index --index-version 4 && ${make("s/one")} && ${make("s/two")} && ${link("s/one")} && ${link("s/two")} && ${plant("s/two")}`,
    "with other letters": `${make("'ä b'").replaceAll("''", "'")} && ${link("'ä b'")} && ${plant("'ä b'")}`,
    "by git add": `${make("s")} && git add s && ${plant("s")}`,
    "with a file that points elsewhere": `${make("s")} && ${link("s")} && mv s/.git elsewhere && echo "gitdir: ../elsewhere" > s/.git && git config -f elsewhere/config core.fsmonitor "touch '$PWD/ran';false"`,
  };
  test.each(Object.entries(attacks))("%s", async (_name, command) => {
    expect(await run(command)).toMatch(/its \.git was renamed to \.git-put-aside/);
    expect(looksAndRuns()).toBe(false);
    expect(git("status", "--short")).not.toBe("");
  });

  test("in two steps: the repository first, and then the index", async () => {
    expect(await run(`${make("s")} && ${plant("s")}`)).not.toMatch(/put-aside/);
    expect(await run(link("s"))).toMatch(/A command added the repository in s as a submodule/);
    expect(looksAndRuns()).toBe(false);
  });

  test("below a submodule that was there", async () => {
    using other = new TestFolder({ "x.txt": "x\n" });
    for (const args of [
      ["init", "-q"],
      ["add", "."],
      ["commit", "-q", "-m", "x"],
    ])
      execFileSync("git", [...WHO, ...args], { cwd: other.root });
    git("submodule", "add", "-q", other.root, "sub");
    git("commit", "-q", "-m", "A submodule");
    const pointer = readFileSync(join(folder.root, "sub/.git"), "utf8");
    expect(await run(`cd sub && ${make("n")} && ${link("n")} && ${plant("n")}`)).toMatch(
      /A command added the repository in .*n as a submodule/,
    );
    expect(looksAndRuns()).toBe(false);
    // The command cannot replace the submodule's own pointer, and commits in the submodule work.
    const rewritten = await run(
      `${make("evil")}; ${plant("evil")}; echo "gitdir: ../evil/.git" > sub/.git; rm -f sub/.git; mv sub sub2; echo done`,
    );
    expect(rewritten).toMatch(/Read-only|busy/);
    expect(readFileSync(join(folder.root, "sub/.git"), "utf8")).toBe(pointer);
    expect(await run(`cd sub && echo y > y.txt && git add y.txt && ${commit} && git log --oneline | wc -l`)).toMatch(
      /\b2\b/,
    );
    expect(looksAndRuns()).toBe(false);
  });

  test("and what a person put back stays", async () => {
    await run(`${make("s")} && ${link("s")}`);
    execFileSync("mv", ["s/.git-put-aside", "s/.git"], { cwd: folder.root });
    expect(await run("git status --short")).not.toMatch(/put-aside/);
    expect(existsSync(join(folder.root, "s/.git"))).toBe(true);
  });
});

test("a file that git calls its index and is none, or is cut, hinders no command", async () => {
  await run(`${make("s")} && ${link("s")}`);
  const index = readFileSync(join(folder.root, ".git/index"));
  for (const broken of [Buffer.from("DIRC"), index.subarray(0, 60), Buffer.alloc(4096)]) {
    writeFileSync(join(folder.root, ".git/index"), broken);
    expect(await run("echo hello")).toMatch(/hello/);
  }
});
