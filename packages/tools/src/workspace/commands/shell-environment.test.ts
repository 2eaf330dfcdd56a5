import { spawnSync } from "node:child_process";
import { appendFileSync, chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openWorkspace } from "../files/paths.ts";
import { call, TestFolder } from "../test-folder.fixture.ts";
import { shellTool } from "./shell.ts";
import { GIT_SETTINGS, steadyEnvironment } from "./shell-environment.ts";
import { runForUser } from "./user-command.ts";

const folder = mkdtempSync(join(tmpdir(), "banyan-path-"));
afterAll(() => rmSync(folder, { recursive: true }));
const [workspace, own, open] = ["workspace", "own", "open"].map((name) => join(folder, name)) as [
  string,
  string,
  string,
];
for (const path of [join(workspace, "bin"), own, open]) mkdirSync(path, { recursive: true });
chmodSync(own, 0o755);
chmodSync(open, 0o777);
symlinkSync(join(workspace, "bin"), join(folder, "link"));

test("S18: the path of commands has absolute folders that no command can write to", () => {
  const path = [
    ".",
    "",
    "bin",
    join(workspace, "bin"),
    workspace,
    join(folder, "link"),
    open,
    join(folder, "gone"),
    own,
  ];
  expect(steadyEnvironment({ PATH: path.join(":") }, [workspace])).toEqual({ PATH: own });
  expect(steadyEnvironment({ PATH: "bin" }, [workspace])).toEqual({ PATH: "/usr/local/bin:/usr/bin:/bin" });
  expect(steadyEnvironment({}, [workspace])).toEqual({ PATH: "/usr/local/bin:/usr/bin:/bin" });
});

test("S18: variables that steer a shell, and functions, are taken away", () => {
  const steering = {
    BASH_ENV: "x",
    ENV: "x",
    "BASH_FUNC_ls%%": "() { x; }",
    PS4: "$(x)",
    SHELLOPTS: "xtrace",
    IFS: "l",
  };
  const environment = steadyEnvironment({ ...steering, HOME: "/h", PATH: own, CDPATH: "x" }, [workspace]);
  expect(environment).toEqual({ HOME: "/h", PATH: own });
});

test.skipIf(spawnSync("git", ["--version"]).status !== 0)(
  "S24: git obeys no repository that a folder only looks like, unless it is named",
  async () => {
    const made = join(folder, "made");
    const git = (...words: string[]) =>
      spawnSync("git", words, { cwd: made, encoding: "utf8", env: { PATH: process.env.PATH ?? "", ...GIT_SETTINGS } });
    mkdirSync(made);
    expect(git("init", "--quiet", "--bare", ".").status).toBe(0);
    appendFileSync(
      join(made, "config"),
      `[core]\n\tbare = false\n\tworktree = ${made}\n\tfsmonitor = ": > evil; false"\n`,
    );
    expect(git("status").stderr).toContain("safe.bareRepository");
    expect(existsSync(join(made, "evil"))).toBe(false);
    expect(git("--git-dir=.", "status").status).toBe(0);
    expect(existsSync(join(made, "evil"))).toBe(true);
  },
);

test("F80, K12: no command waits for an editor of the user's", async () => {
  using folder = new TestFolder({ "a.txt": "a\n" });
  const setUp = `
    git init -q -b main; git config user.name A; git config user.email a@example.com
    git config core.editor 'sleep 40; true'; git config sequence.editor 'sleep 40; true'
    git add .; git commit -q -m first; git checkout -q -b other; echo b > b.txt; git add .; git commit -q -m second
    git checkout -q main; echo c > c.txt; git add .`;
  const names = ["EDITOR", "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "MY_EDITOR"];
  const before = names.map((name) => process.env[name]);
  for (const name of names) process.env[name] = "sleep 40; true";
  const tool = shellTool(openWorkspace(folder.root));
  const run = (command: string) => call(tool, { command, timeout: 30_000 });
  try {
    expect(await run(setUp)).toBe("[no output]");
    expect(await run("git commit")).toMatch(/Aborting commit due to empty commit message/);
    expect(await run("git commit -q --amend; git log --format=%s -1")).toBe("first\n");
    expect(await run("git rebase -q -i --root; git log --format=%s -1")).toBe("first\n");
    expect(await run("GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git rebase -i --root")).toMatch(
      /You can amend the commit/,
    );
    expect(await run("git rebase --continue; git branch --show-current")).toMatch(/main\n$/);
    expect(await run("git merge -q --allow-unrelated-histories other; git log --format=%s -1")).toBe(
      "Merge branch 'other'\n",
    );
    expect(await run("git config --edit; echo $?")).toMatch(/0\n$/);
    expect(await run('sh -c "$EDITOR x && $VISUAL x && $MY_EDITOR x"; EDITOR=own; echo $? $EDITOR')).toBe("0 own\n");
    const listed = shellTool(openWorkspace(folder.root), { env: { EDITOR: "mine" } });
    expect(await call(listed, { command: "echo $EDITOR" })).toBe("mine\n");
  } finally {
    for (const [index, name] of names.entries()) {
      const value = before[index];
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}, 60_000);

test("F80: a user's own command keeps their editor, which may have a window of its own", async () => {
  const before = process.env.VISUAL;
  process.env.VISUAL = "my-editor --wait";
  try {
    const { report } = await runForUser({
      command: "echo $VISUAL",
      directory: folder,
      signal: new AbortController().signal,
      onOutput() {},
      redaction: { push: (text) => text, end: () => "" },
    });
    expect(report).toBe("my-editor --wait\n");
  } finally {
    if (before === undefined) delete process.env.VISUAL;
    else process.env.VISUAL = before;
  }
});
