import { spawnSync } from "node:child_process";
import { appendFileSync, chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { GIT_SETTINGS, steadyEnvironment } from "./shell-environment.ts";

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
