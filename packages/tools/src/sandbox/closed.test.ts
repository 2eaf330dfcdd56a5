import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { beforeEach, describe, expect, test } from "vitest";
import { living, uniqueSleep, until } from "../workspace/commands/processes.fixture.ts";
import { openWorkspace, shellTool } from "../workspace/index.ts";
import { call, TestFolder } from "../workspace/test-folder.fixture.ts";
import { openSandbox, type Sandbox } from "./index.ts";
import { sandboxOf, startIn, whyNoSandbox } from "./sandbox.fixture.ts";

const reason = await whyNoSandbox();
beforeEach(({ skip }) => {
  if (reason !== undefined) skip(reason);
});

const has = (program: string) => spawnSync(program, ["--version"]).error === undefined;

/** Returns the output of a command in a sandbox around a folder. */
function run(command: string, inside: Sandbox, root: string, home?: string): Promise<string> {
  return call(shellTool(openWorkspace(root), { sandbox: inside, ...(home && { env: { HOME: home } }) }), { command });
}

function git(root: string, ...args: string[]): string {
  const settings = ["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"];
  return spawnSync("git", ["-C", root, ...settings, ...args], { encoding: "utf8" }).stdout;
}

function repository(): TestFolder {
  const project = new TestFolder({ a: "a\n" });
  git(project.root, "init", "-q");
  for (const [name, value] of [
    ["user.name", "T"],
    ["user.email", "t@example.org"],
  ] as const)
    git(project.root, "config", name, value);
  git(project.root, "add", "a");
  git(project.root, "commit", "-qm", "first");
  return project;
}

/** Creates shared memory like any program of the user, and prints its key. */
const SHARE = `import ctypes, os
key = 0x7b000000 | os.getpid()
if ctypes.CDLL(None).shmget(key, 4096, 0o1600) >= 0: print(key)`;

describe("the home folder (S19)", () => {
  test("S19: it is closed, but for what builds need without their passwords", async () => {
    using home = new TestFolder({
      ".ssh/id": "secret",
      ".config/other/token": "secret",
      "notes.txt": "secret",
      ".npmrc": "secret",
      ".cargo/credentials.toml": "secret",
      ".m2/settings.xml": "secret",
      ".gradle/gradle.properties": "secret",
      ".local/share/cargo/credentials.toml": "secret",
      ".local/share/gem/credentials": "secret",
      ".stack/upload/credentials.json": "secret",
      ".nimble/github_api_token": "secret",
      ".julia/servers/example.org/auth.toml": "secret",
      ".dotnet/corefx/cryptography/x509stores/my/key.pfx": "secret",
      ".cargo/bin/tool": "open",
      ".m2/repository/x": "open",
      "go/pkg/mod/x": "open",
      ".gitconfig": "open",
    });
    using folder = new TestFolder();
    await using inside = await sandboxOf(folder, { home: home.root });
    const said = await run("grep -rhoE 'open|secret' ~ 2>/dev/null | sort | uniq -c", inside, folder.root, home.root);
    expect(said.trim()).toBe("4 open");
    expect(await run("echo x > ~/.cargo/bin/tool; echo x > ~/.cargo/new", inside, folder.root, home.root)).toMatch(
      /exit code/,
    );
    await run(
      "echo x > ~/new; mkdir ~/.ssh; echo x | tee ~/.cache/{go-build,pip,uv}/x",
      inside,
      folder.root,
      home.root,
    );
    expect(await run("cat ~/.cache/{go-build,pip,uv}/x", inside, folder.root, home.root)).toBe("x\nx\nx\n");
    expect(home.names()).not.toContain("new");
    expect(home.names()).not.toContain(".cache");
  });

  test("S19: a workspace in it, with TMPDIR and a toolchain on PATH there too", async () => {
    using home = new TestFolder({ "work/a": "mine\n", "work-2/a": "secret", "opt/bin/tool": "#!/bin/sh\necho ran\n" });
    mkdirSync(home.path("tmp"));
    spawnSync("chmod", ["+x", home.path("opt/bin/tool")]);
    const PATH = `${home.path("opt/bin")}:${process.env.PATH}`;
    const env = { ...process.env, TMPDIR: home.path("tmp"), PATH };
    const opening = await openSandbox({ root: home.path("work"), home: home.root, env });
    if (!opening.available) throw new Error(opening.reason);
    await using inside = opening.sandbox;
    const tool = shellTool(openWorkspace(home.path("work")), { sandbox: inside, env: { HOME: home.root, PATH } });
    expect(await call(tool, { command: "cat a; tool; echo t > $TMPDIR/t && cat $TMPDIR/t; cat ../work-2/a" })).toMatch(
      /^mine\nran\nt\n.*No such file/,
    );
  });

  test("S19: what is named is read, and what must not be is said and stays closed", async () => {
    using home = new TestFolder({ "data/a": "open\n", ".ssh/id": "secret", "own/token": "secret" });
    using folder = new TestFolder();
    symlinkSync(home.path(".ssh"), home.path("link"));
    const readable = ["~/data", "~/.ssh", "link", "/etc", "~", "own/token"];
    const opening = await openSandbox({ root: folder.root, home: home.root, readable, own: [home.path("own")] });
    if (!opening.available) throw new Error(opening.reason);
    await using inside = opening.sandbox;
    expect(opening.notices).toEqual([
      "Commands in the sandbox cannot read ~/.ssh (sandbox.home): programs keep passwords there.",
      "Commands in the sandbox cannot read link (sandbox.home): programs keep passwords there.",
      "Commands in the sandbox cannot read /etc (sandbox.home): the path is not inside your home folder.",
      "Commands in the sandbox cannot read ~ (sandbox.home): the path is not inside your home folder.",
      "Commands in the sandbox cannot read own/token (sandbox.home): Banyan keeps its own files there.",
    ]);
    expect(await run("cat ~/data/a; cat ~/.ssh/id ~/link/id ~/own/token", inside, folder.root, home.root)).toMatch(
      /^open\n(?:.*No such file.*\n){3}/,
    );
  });

  test("S19: the program's own folders are never there, wherever they lie", async () => {
    using folder = new TestFolder({ "state/token": "secret" });
    const own = [folder.path("state"), folder.path("later/config")];
    await using inside = await sandboxOf(folder, { own });
    expect(
      await run("cat state/token; mkdir -p later/config; echo x > later/config/settings.json", inside, folder.root),
    ).toMatch(/No such file.*exit code/s);
    expect(existsSync(folder.path("later/config/settings.json"))).toBe(false);
    await until(() => folder.names().join() === "state");
    expect(await openSandbox({ root: folder.path("state"), own })).toMatchObject({
      available: false,
      reason: expect.stringMatching(/is inside Banyan's own files/),
    });
  });

  test("S19: a home that cannot be closed makes no sandbox, and that is said", async () => {
    using folder = new TestFolder();
    expect(await openSandbox({ root: folder.root, home: "/" })).toEqual({
      available: false,
      reason: "Commands cannot run in a sandbox: / is your home folder, which a sandbox cannot hide.",
    });
  });
});

describe("what is protected and missing (S19)", () => {
  test("S19: none of it can be made, and nothing of it is left", async () => {
    using project = new TestFolder();
    await using inside = await sandboxOf(project);
    for (const name of [
      ".git/config",
      "HEAD",
      ".envrc",
      ".vscode/tasks.json",
      ".mcp.json",
      ".idea/x",
      ".claude/x",
      ".cursor/x",
    ]) {
      const command = `mkdir -p $(dirname ${name}); echo evil > ${name}; ln -s x ${name}; mv $(dirname ${name}) y`;
      expect(await run(command, inside, project.root), name).toMatch(/exit code/);
    }
    await until(() => project.names().length === 0);
  });

  test.skipIf(!has("git"))("S19: nor in a repository what git goes by, while it works with all else", async () => {
    using project = repository();
    await using inside = await sandboxOf(project);
    for (const name of ["commondir", "config", "hooks/pre-commit"])
      expect(await run(`rm -rf .git/${name}; echo evil > .git/${name}`, inside, project.root), name).toMatch(
        /exit code/,
      );
    const work = [
      ...["echo b >> a", "git commit -qam second", "git checkout -qb side HEAD~1", "echo c > c", "git add c"],
      ...["git commit -qm side", "git rebase -q main", "git checkout -q main", "git merge -q --no-ff -m merge side"],
      ...["echo d >> a", "git stash -q", "git stash pop -q", "git checkout -q a", "git tag -a t -m t", "git gc -q"],
      ...[
        "git cherry-pick -x side^ >$TMPDIR/o 2>&1 || git cherry-pick --skip",
        "git reset -q --hard",
        "git fsck --no-dangling 2>/dev/null",
      ],
      ...["git worktree add -q tree", "git worktree remove tree", "git status --porcelain"],
    ];
    expect(await run(`set -e; ${work.join("; ")}`, inside, project.root)).toBe("[no output]");
    expect(git(project.root, "log", "--format=%s", "--first-parent")).toBe("merge\nsecond\nfirst\n");
    await until(() => project.names().join() === ".git,a,c" && !existsSync(project.path(".git/commondir")));
  });

  test.skipIf(!has("git"))(
    "S19: a folder with a repository is not made one itself, and `HEAD` stays a revision",
    async () => {
      using project = repository();
      await using inside = await sandboxOf(project);
      const bare =
        "mkdir elsewhere; cp -r .git/objects .git/refs elsewhere; echo $PWD/elsewhere > commondir; cp -r .git/objects .git/refs .; cp .git/HEAD .git/config .; mv .git/HEAD .git/away; git rev-parse --is-bare-repository";
      expect(await run(`git log --oneline HEAD && git diff HEAD || exit 9; ${bare}`, inside, project.root)).toMatch(
        /fatal: (?:not a git repository|failed to read).*exit code 128/s,
      );
      await until(() => !existsSync(project.path("commondir")) && !existsSync(project.path("refs")));
    },
  );

  test.each([
    [".git/modules/vendor/group/sub", ".git/HEAD"],
    [".bare", ".bare/HEAD"],
  ])("S19: the settings of the repository in %s stay as they are", async (at, head) => {
    const reference = "ref: refs/heads/main\n";
    const files = { [`${at}/HEAD`]: reference, [head]: reference, [`${at}/config`]: "[core]\n" };
    using project = new TestFolder({ ...files, ...(at === ".bare" ? { ".git": "gitdir: ./.bare\n" } : {}) });
    await using inside = await sandboxOf(project);
    const plant = `echo evil > ${at}/config; mkdir -p ${at}/hooks; echo evil > ${at}/hooks/post-checkout; mv ${at} away`;
    expect(await run(plant, inside, project.root)).toMatch(/exit code/);
    expect(project.read(`${at}/config`)).toBe("[core]\n");
    expect(existsSync(project.path(`${at}/hooks/post-checkout`))).toBe(false);
  });

  test.skipIf(!has("git"))("S19: commits in a linked work tree, whose repository lies elsewhere", async () => {
    using project = repository();
    git(project.root, "worktree", "add", "-q", project.path("tree"));
    const root = project.path("tree");
    const opening = await openSandbox({ root });
    if (!opening.available) throw new Error(opening.reason);
    await using inside = opening.sandbox;
    expect(await run("echo b >> a && git commit -qam second && git status --porcelain", inside, root)).toBe(
      "[no output]",
    );
    expect(git(root, "log", "--format=%s")).toBe("second\nfirst\n");
    const plants = ["config", "hooks/x", "worktrees/tree/commondir", "worktrees/tree/gitdir"];
    for (const name of plants)
      expect(await run(`echo evil > ${project.path(".git")}/${name}`, inside, root), name).toMatch(/exit code/);
    expect(await run("echo evil > ../a", inside, root)).toMatch(/Read-only/);
  });

  test.skipIf(!has("git"))(
    "S19: a pointer to a repository that knows nothing of the folder opens nothing",
    async () => {
      using project = repository();
      using folder = new TestFolder({ ".git": `gitdir: ${project.path(".git")}\n` });
      await using inside = await sandboxOf(folder);
      expect(await run(`echo x > ${project.path(".git")}/x`, inside, folder.root)).toMatch(/Read-only/);
    },
  );

  test("S19: a link that stands where something is protected is one again when a command replaced it", async () => {
    using project = repository();
    git(project.root, "config", "core.hooksPath", ".git/hooks");
    mkdirSync(project.path("hooks"));
    mkdirSync(project.path("agents"));
    rmSync(project.path(".git/hooks"), { recursive: true });
    const links = { ".git/hooks": "../hooks", ".claude": "agents", ".idea": "not/there", ".cursor": project.outside };
    for (const [link, target] of Object.entries(links)) symlinkSync(target, project.path(link));
    await using inside = await sandboxOf(project);
    const replace = 'rm "$F"; mkdir -p "$F"; echo evil > "$F/pre-commit"; chmod +x "$F/pre-commit"';
    for (const [link, target] of Object.entries(links)) {
      const said = await run(`F=${link}; echo evil > "$F/x"; ${replace}`, inside, project.root);
      expect(said, link).toMatch(/replaced .*, a link to .*\. The link was restored/);
      expect(readlinkSync(project.path(link))).toBe(target);
      expect(existsSync(project.path(`${link}/x`)), link).toBe(false);
      expect(existsSync(project.path(`${link}-put-aside/pre-commit`)), link).toBe(true);
    }
    expect(await run("mkdir -p not/there; echo x > not/there/x", inside, project.root)).toMatch(/exit code/);
    expect(project.names()).not.toContain("not");
  });

  test("S19: a link is put back also when the sandbox ends before the command", async () => {
    using project = new TestFolder({ "a/x": "" });
    symlinkSync("a", project.path(".claude"));
    const id = uniqueSleep();
    {
      await using inside = await sandboxOf(project);
      await using _ = await startIn(inside, project, `rm .claude; mkdir .claude; sleep ${id}`);
      await until(() => living(`sleep\0${id}`).length > 0);
      await inside[Symbol.asyncDispose]();
    }
    expect(readlinkSync(project.path(".claude"))).toBe("a");
  });

  test("S19: a repository below stays protected when a command takes its HEAD away", async () => {
    using project = new TestFolder({ "below/a": "a\n" });
    git(project.path("below"), "init", "-q");
    await using inside = await sandboxOf(project);
    await run("mv below/.git/HEAD below/.git/aside; mv below/.git/refs below/.git/objects .", inside, project.root);
    expect(await run("echo evil >> below/.git/config", inside, project.root)).toMatch(/Read-only/);
    expect(await run("mkdir -p below/.git/hooks/x", inside, project.root)).toMatch(/Read-only|exit code/);
  });

  test.skipIf(!has("python3"))("S19: it reaches no shared memory and no keys of the session", async () => {
    using project = new TestFolder();
    const memory = spawnSync("python3", ["-c", SHARE], { encoding: "utf8" }).stdout.trim();
    try {
      await using inside = await sandboxOf(project);
      const look = `import ctypes
libc = ctypes.CDLL(None, use_errno=True)
print("memory", libc.shmget(${memory}, 0, 0), ctypes.get_errno())
print("keys", libc.syscall(${process.arch === "x64" ? 250 : 219}, 0, -3, 1), ctypes.get_errno())`;
      expect((await run(`python3 -c '${look}'`, inside, project.root)).trim()).toBe("memory -1 2\nkeys -1 1");
    } finally {
      spawnSync("ipcrm", ["-M", memory]);
    }
  });
});
