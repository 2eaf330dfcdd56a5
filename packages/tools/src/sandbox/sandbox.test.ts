import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { until } from "../workspace/commands/processes.fixture.ts";
import { openWorkspace, shellTool, workspaceTools } from "../workspace/index.ts";
import { call, TestFolder } from "../workspace/test-folder.fixture.ts";
import type { Sandbox } from "./index.ts";
import { helloServer, sandboxOf, startIn, whyNoSandbox } from "./sandbox.fixture.ts";

const reason = await whyNoSandbox();

beforeEach(({ skip }) => {
  if (reason !== undefined) skip(reason);
});

/** A shared sandbox with default options, for the simple tests. */
let folder: TestFolder;

let sandbox: Sandbox;

beforeAll(async () => {
  folder = new TestFolder();
  if (reason === undefined) sandbox = await sandboxOf(folder);
});

afterAll(async () => {
  await sandbox?.[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** Returns the output of a command in a sandbox. */
function run(command: string, inside = sandbox, at = folder): Promise<string> {
  return call(shellTool(openWorkspace(at.root), { sandbox: inside }), { command });
}

const has = (program: string) => spawnSync(program, ["--version"]).error === undefined;

describe("what a command may write", () => {
  test("S9: the workspace and a temporary folder of its own, and nothing else", async () => {
    expect(await run("echo a > made && echo b > $TMPDIR/made && cat made $TMPDIR/made")).toBe("a\nb\n");
    expect(folder.read("made")).toBe("a\n");
    const outside = join(folder.outside, "made");
    expect(await run(`echo c > ${outside}`)).toMatch(/Read-only file system\n\[Probably.*\nexit code 1$/);
    expect(await run(`echo c >> ${folder.outside}/secret.txt || rm ${folder.outside}/secret.txt`)).toMatch(
      /Read-only file system\n.*Read-only file system\n(?:\[Probably.*\n)*exit code 1$/s,
    );
    expect(existsSync(outside)).toBe(false);
    expect(readFileSync(join(folder.outside, "secret.txt"), "utf8")).toBe("secret\n");
  });

  test("S9: nor where the runtime itself would let it", async () => {
    using home = new TestFolder();
    mkdirSync(home.path(".npm/_logs"), { recursive: true });
    await using inside = await sandboxOf(folder, { home: home.root });
    const writes = ["~/.npm/_logs/x", "/tmp/claude/x", "/var/tmp/x"].map((file) => `echo x > ${file}`).join("; ");
    const tool = shellTool(openWorkspace(folder.root), { sandbox: inside, env: { HOME: home.root } });
    expect(await call(tool, { command: writes })).toMatch(
      /^(?:.*(?:Read-only file system|No such file).*\n){3}(?:\[Probably.*\n)*exit/,
    );
    expect(home.names(".npm/_logs")).toEqual([]);
  });

  test("places can be added, and some in them kept as they are", async () => {
    using second = new TestFolder({ "kept/a": "", "[x]*/a": "" });
    await using inside = await sandboxOf(folder, {
      writable: [second.root],
      writeDenied: [second.path("kept"), second.path("[x]*")],
    });
    const write = (path: string) => run(`echo new > '${second.path(path)}'`, inside);
    expect(await write("b")).toBe("[no output]");
    expect(await write("kept/a")).toMatch(/Read-only/);
    expect(await write("[x]*/a")).toMatch(/Read-only/);
  });

  test("the temporary folder is kept between commands, and goes away with the sandbox", async () => {
    await using inside = await sandboxOf(folder);
    await run("echo kept > $TMPDIR/a", inside);
    expect(await run("cat $TMPDIR/a", inside)).toBe("kept\n");
    const temporary = (await run("echo $TMPDIR", inside)).trim();
    await inside[Symbol.asyncDispose]();
    expect(existsSync(dirname(temporary))).toBe(false);
  });
});

describe("what stays as it is in the workspace (S8)", () => {
  let project: TestFolder;
  let inside: Sandbox;
  beforeAll(async () => {
    project = new TestFolder({
      ".git/HEAD": "ref: refs/heads/main\n",
      ".git/config": "[core]\n",
      ".git/modules/sub/HEAD": "ref: refs/heads/main\n",
      "nested/repository/.git/HEAD": "ref: refs/heads/main\n",
      "nested/repository/.git/config": "[core]\n",
      ".banyan/settings.json": "{}",
      ".vscode/tasks.json": "{}",
      ".mcp.json": "{}",
      ".envrc": "",
      "deep/er/.bashrc": "",
    });
    if (reason === undefined) inside = await sandboxOf(project);
  });
  afterAll(async () => {
    await inside?.[Symbol.asyncDispose]();
    project[Symbol.dispose]();
  });

  test.each([
    ".git/config",
    ".git/hooks/pre-commit",
    ".git/modules/sub/hooks/pre-commit",
    "nested/repository/.git/config",
    "nested/repository/.git/hooks/pre-commit",
    ".banyan/settings.json",
    ".banyan/agents/new.md",
    ".vscode/tasks.json",
    ".mcp.json",
    ".envrc",
    "deep/er/.bashrc",
  ])("S8: %s", async (file) => {
    const before = existsSync(project.path(file)) ? project.read(file) : undefined;
    const folder = dirname(file);
    expect(await run(`mkdir -p ${folder}; echo evil > ${file}`, inside, project)).toMatch(/exit code 1$/);
    const replace = `mv ${folder} away && mkdir -p ${folder} && echo evil > ${file}`;
    expect(await run(`rm -f ${file} && ${replace}; ${replace}`, inside, project)).toMatch(/exit code 1$/);
    expect(existsSync(project.path(file)) ? project.read(file) : undefined).toBe(before);
  });

  test("S36: what lies in the workspace, or in a folder at most four deep, and nothing deeper", async () => {
    const protectedFiles = [".vscode/tasks.json", ".claude/commands/git/commit.md", ".bashrc", ".git/config"];
    const folders = ["", "a/", "a/b/", "a/b/c/", "a/b/c/d/", "a/b/c/d/e/", "a/b/c/d/e/f/"];
    const files = folders.flatMap((folder) => protectedFiles.map((file) => `${folder}${file}`));
    using project = new TestFolder(Object.fromEntries(files.map((file) => [file, "as it was\n"])));
    await using inside = await sandboxOf(project);
    await run(files.map((file) => `echo evil > ${file}`).join("; "), inside, project);
    const changed = files.filter((file) => project.read(file) !== "as it was\n");
    expect(changed).toEqual(files.filter((file) => file.startsWith("a/b/c/d/e/")));
  });

  test("S8: the file that says where the repository of a work tree is", async () => {
    using tree = new TestFolder({ ".git": "gitdir: elsewhere\n" });
    await using inside = await sandboxOf(tree);
    expect(await run("echo evil > .git", inside, tree)).toMatch(/exit code 1$/);
  });

  test("S8: the program's own settings, where there are none yet", async () => {
    using project = new TestFolder();
    await using inside = await sandboxOf(project);
    expect(await run("mkdir -p .banyan/agents && echo evil > .banyan/agents/a.md", inside, project)).toMatch(/exit/);
    expect(await run("ln -s . x; mv x .banyan", inside, project)).toMatch(/exit/);
    await until(() => project.names().join() === "x");
  });

  test("S8: the same while another program in a sandbox keeps an empty folder there", async () => {
    using project = new TestFolder();
    await using inside = await sandboxOf(project);
    {
      await using server = await startIn(inside, project, "echo up; read line");
      await once(server.stdout ?? server, "data");
      expect(project.names()).toContain(".banyan");
      expect(await run("mkdir -p .banyan/agents; echo evil > .banyan/agents/a.md", inside, project)).toMatch(/exit/);
      expect(await run("echo evil > .banyan/settings.json", inside, project)).toMatch(/exit/);
      expect(await run("mv .banyan x; rmdir .banyan; ln -s . .banyan", inside, project)).toMatch(/exit/);
    }
    await until(() => project.names().length === 0);
  });

  test.skipIf(!has("git"))("git commits all the same, and sees nothing that is not the user's", async () => {
    using project = new TestFolder({ a: "a\n" });
    const git = (...args: string[]) => spawnSync("git", ["-C", project.root, ...args], { encoding: "utf8" }).stdout;
    git("init", "-q");
    git("config", "user.name", "T");
    git("config", "user.email", "t@example.org");
    await using inside = await sandboxOf(project);
    expect(await run("git add -A && git commit -qm first && git status --porcelain", inside, project)).toBe(
      "[no output]",
    );
    expect(git("log", "--format=%s", "--name-only")).toBe("first\n\na\n");
    await until(() => project.names().join() === ".git,a");
  });
});

describe("what a command may read", () => {
  test("S9: not where programs keep their secrets", async () => {
    using home = new TestFolder({
      ".ssh/id_ed25519": "private",
      ".config/banyan/settings.json": "key",
      ".netrc": "password",
    });
    home.add(".cargo/config.toml", "plain\n");
    await using inside = await sandboxOf(folder, { home: home.root });
    const read = (path: string) => run(`cat ${home.path(path)}; ls ${home.path(path)}`, inside);
    expect(await read(".ssh/id_ed25519")).toMatch(/No such file.*No such file/s);
    expect(await read(".config/banyan/settings.json")).toMatch(/No such file.*No such file/s);
    expect(await read(".netrc")).not.toContain("password");
    expect(await run(`cat ${home.path(".cargo/config.toml")}`, inside)).toBe("plain\n");
  });

  test("S9: nor what is named, though the workspace lies in it", async () => {
    await using inside = await sandboxOf(folder, { readDenied: [dirname(folder.root)] });
    expect(await run(`cat ${folder.outside}/secret.txt; echo here > here; cat here`, inside)).toMatch(
      /No such file.*\nhere\n/,
    );
  });

  test("S9: nor what other processes are and have in their environment", async () => {
    const own = await run(`cat /proc/${process.pid}/environ`);
    expect(own).toMatch(/exit code 1$/);
    expect(Number(await run("ls /proc | grep -c '^[0-9]'"))).toBeLessThan(12);
  });
});

describe("what a command may reach", () => {
  const fetch = (url: string, environment = "NO_PROXY= no_proxy= NODE_USE_ENV_PROXY=1") =>
    `${environment} ${process.execPath} -e 'fetch("${url}").then(async (r) => console.log(r.status, await r.text()), () => console.log("unreachable"))'`;

  test.each([
    ["without settings for the network", {}],
    ["with an empty list (CVE-2025-66479)", { network: { allow: [] } }],
  ])("S9: nothing %s", async (_, options) => {
    await using server = await helloServer();
    await using inside = await sandboxOf(folder, options);
    expect(await run(fetch(`http://127.0.0.1:${server.port}`, ""), inside)).toBe("unreachable\n");
    expect(await run(fetch(`http://127.0.0.1:${server.port}`), inside)).toBe("unreachable\n");
    expect(await run("tail -n +3 /proc/net/dev | cut -d: -f1", inside)).toMatch(/^ *lo\n$/);
  });

  test("S9: only the domains that are named, through a proxy", async () => {
    await using server = await helloServer();
    await using other = await helloServer();
    // The runtime's sockets are in a place that commands cannot read by default.
    const options = { network: { allow: [`127.0.0.1:${server.port}`] }, readDenied: [tmpdir()] };
    await using inside = await sandboxOf(folder, options);
    expect(await run(fetch(`http://127.0.0.1:${server.port}`), inside)).toBe("200 hello\n");
    expect(await run(fetch(`http://127.0.0.1:${other.port}`), inside)).not.toContain("hello");
    expect(await run(fetch(`http://127.0.0.1:${server.port}`, ""), inside)).toBe("unreachable\n");
  });

  test("S9: no local socket", async () => {
    const connect = `${process.execPath} -e 'require("net").createServer().once("error", (e) => console.log(e.code)).listen("s")'`;
    expect(await run(connect)).toBe("EPERM\n");
  });

  test("the model is told what it can reach and write", async () => {
    const tools = workspaceTools({ root: folder.root, sandbox });
    expect(tools.find((tool) => tool.name === "shell")?.description).toMatch(
      /and \$TMPDIR, and there is no network\. Empty files there, such as \.mcp\.json, may be placeholders\.$/,
    );
    await using inside = await sandboxOf(folder, { network: { allow: ["example.org"] } });
    expect(shellTool(openWorkspace(folder.root), { sandbox: inside }).description).toContain("reached: example.org.");
  });
});
