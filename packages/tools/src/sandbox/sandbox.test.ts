import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { living, uniqueSleep, until } from "../workspace/commands/processes.fixture.ts";
import { openWorkspace, shellTool, workspaceTools } from "../workspace/index.ts";
import { call, TestFolder } from "../workspace/test-folder.fixture.ts";
import { openSandbox, type Sandbox } from "./index.ts";
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

/** Returns the folder of a process; undefined if the process ended meanwhile, like those of other tests. */
function folderOf(id: string): string {
  try {
    return readlinkSync(`/proc/${id}/cwd`);
  } catch {
    return "";
  }
}

const has = (program: string) => spawnSync(program, ["--version"]).error === undefined;

describe("what a command may write", () => {
  test("S9: the workspace and a temporary folder of its own, and nothing else", async () => {
    expect(await run("echo a > made && echo b > $TMPDIR/made && cat made $TMPDIR/made")).toBe("a\nb\n");
    expect(folder.read("made")).toBe("a\n");
    const outside = join(folder.outside, "made");
    expect(await run(`echo c > ${outside}`)).toMatch(/Read-only file system\nexit code 1$/);
    expect(await run(`echo c >> ${folder.outside}/secret.txt || rm ${folder.outside}/secret.txt`)).toMatch(
      /Read-only file system\n.*Read-only file system\nexit code 1$/s,
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
    expect(await call(tool, { command: writes })).toMatch(/^(?:.*(?:Read-only file system|No such file).*\n){3}exit/);
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
    const { temporary } = inside;
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
      /in \$TMPDIR only, and there is no network\. Empty entries there, as \.mcp\.json, may only hold a place\.$/,
    );
    await using inside = await sandboxOf(folder, { network: { allow: ["example.org"] } });
    expect(shellTool(openWorkspace(folder.root), { sandbox: inside }).description).toContain("reached: example.org.");
  });
});

describe("a command is as it is outside", () => {
  test("S10: with the environment that it is given, and nothing else", async () => {
    process.env.BANYAN_TEST_API_KEY = "hidden";
    try {
      await using inside = await sandboxOf(folder, { env: { ...process.env, LEAK: "leak" } });
      const tool = shellTool(openWorkspace(folder.root), { sandbox: inside, env: { MINE: "mine" } });
      expect(await call(tool, { command: 'echo "$BANYAN_TEST_API_KEY,$LEAK,$MINE"' })).toBe(",,mine\n");
      await using child = await startIn(inside, folder, "env | cut -d= -f1 | sort | tr '\\n' ' '", { A: "a b 'c'" });
      expect((await text(child.stdout!)).replace(/\b(?:_|PWD|OLDPWD|SHLVL) /g, "")).toBe("A BANYAN_IN_SANDBOX TMPDIR ");
    } finally {
      delete process.env.BANYAN_TEST_API_KEY;
    }
  });

  test("its exit code and the signal that ended it", async () => {
    expect(await run("echo no; exit 3")).toBe("no\nexit code 3");
    expect(await run("kill -SEGV $$")).toBe("exit code 139");
    expect(await run("no-such-command")).toMatch(/not found\nexit code 127$/);
  });

  test("its words, whatever they are made of and however many there are", async () => {
    expect(await run(`printf '%s\\n' "a  b" '$x' "it's" '!' '\\' '*' "\`date\`" | head -6`)).toBe(
      "a  b\n$x\nit's\n!\n\\\n*\n",
    );
    const command = `x=${"'a'".repeat(9900)}; echo \${#x}`;
    expect(await run(command)).toBe("9900\n");
  });

  test("its input and both outputs, each for itself, as they come", async () => {
    await using child = await startIn(sandbox, folder, "cat; echo error >&2");
    const error = text(child.stderr!);
    let said = "";
    child.stdout!.on("data", (bytes) => (said += bytes));
    child.stdin!.write("one\n");
    await until(() => said === "one\n");
    child.stdin!.end("two\n");
    expect(await error).toBe("error\n");
    await until(() => said === "one\ntwo\n");
  });

  test("many at once", async () => {
    const results = await Promise.all(Array.from({ length: 10 }, (_, number) => run(`echo ${number}`)));
    expect(results).toEqual(Array.from({ length: 10 }, (_, number) => `${number}\n`));
  });
});

describe("a command ends with all that it started", () => {
  test.each([
    ["a plain command", (id: string) => `sleep ${id}`],
    ["a command that ignores SIGTERM", (id: string) => `trap '' TERM; sh -c 'trap "" TERM; sleep ${id}; sleep ${id}'`],
    ["a double fork", (id: string) => `(sleep ${id} & sleep ${id} &) ; sleep ${id}`],
    [
      "a session of its own without the environment, that ignores SIGTERM",
      (id: string) => `env -i setsid sh -c 'trap "" TERM; sleep ${id}; sleep ${id}' & sleep ${id}`,
    ],
  ])("F17: when %s is cancelled", async (_, command) => {
    const id = uniqueSleep();
    const cancel = new AbortController();
    const tool = shellTool(openWorkspace(folder.root), { sandbox });
    const result = call(tool, { command: `echo begun; ${command(id)}` }, { signal: cancel.signal });
    await until(() => living(`sleep\0${id}`).length > 0);
    cancel.abort(new Error("cancelled"));
    expect(await result).toMatch(/^begun\n.*\[cancelled; the command and its child processes were ended\]$/s);
    expect(living(id)).toEqual([]);
  });

  test.each([
    ["holds the output open in a session of its own", (id: string) => `(setsid sleep ${id} &)`],
    ["ignores SIGTERM", (id: string) => `(trap '' TERM; sleep ${id}) &`],
  ])("F17: when it ends while a process in the background %s", async (_, command) => {
    const id = uniqueSleep();
    expect(await run(`${command(id)}\necho done`)).toBe("done\n");
    expect(living(id)).toEqual([]);
  });

  test("F17: one that cleans up when it is asked to end is given the time", async () => {
    const tool = shellTool(openWorkspace(folder.root), { sandbox });
    const command = "trap 'sleep 0.3; echo bye; exit' TERM; echo begun > begun; sleep 1000 & wait";
    const cancel = new AbortController();
    const result = call(tool, { command }, { signal: cancel.signal });
    await until(() => existsSync(folder.path("begun")));
    cancel.abort(new Error("cancelled"));
    expect(await result).toMatch(/^bye\n\[cancelled/);
  });

  test.each([
    ["", false] as const,
    // This case doubles the time.
    ...(process.env.BANYAN_LONG === "1" ? [[" C6: also of one in the background", true] as const] : []),
  ])("F17: when the program is killed with SIGKILL, and no trace of the sandbox stays;%s", async (_, background) => {
    using project = new TestFolder();
    const id = uniqueSleep();
    const url = (file: string) => JSON.stringify(new URL(file, import.meta.url).href);
    project.add(
      "program.ts",
      `import { openSandbox } from ${url("./index.ts")};
      import { openWorkspace, shellTool } from ${url("../workspace/index.ts")};
      const { sandbox } = await openSandbox({ root: ".", network: { allow: ["example.org"] } });
      shellTool(openWorkspace("."), { sandbox }).execute(
        { command: "trap '' TERM; echo $TMPDIR > begun; setsid sleep ${id} & sleep ${id}", background: ${background} },
        { signal: new AbortController().signal, progress() {}, conversation: { id: "c" }, stay: async () => "p1" },
      );
      setInterval(() => {}, 60_000);`,
    );
    const program = spawn(process.execPath, ["program.ts"], { cwd: project.root, stdio: "ignore" });
    const exited = once(program, "exit");
    await until(() => living(`sleep\0${id}`).length === 2 && existsSync(project.path("begun")));
    const base = dirname(project.read("begun").trim());
    program.kill("SIGKILL");
    await exited;
    await until(() => living(`sleep\0${id}`).length === 0 && living(base).length === 0 && !existsSync(base));
    await until(() => project.names().join() === "begun,program.ts");
  });
});

describe("when a sandbox is not to be had as it should be", () => {
  test("S9: a command is not run outside of one that has ended", async () => {
    using project = new TestFolder();
    const closed = await sandboxOf(project);
    await closed[Symbol.asyncDispose]();
    await expect(run("touch made", closed, project)).rejects.toMatchObject({
      name: "NotExecutedError",
      cause: { name: "SandboxError", code: "closed" },
    });
    await using killed = await sandboxOf(project);
    const base = dirname(killed.temporary);
    const [id] = living("sandbox-process.ts").filter((id) => folderOf(id).startsWith(base));
    process.kill(Number(id), "SIGKILL");
    await until(() => !existsSync(`/proc/${id}`));
    await expect(run("touch made", killed, project)).rejects.toMatchObject({ cause: { code: "closed" } });
    expect(project.names()).toEqual([]);
  });

  test("S9: a program that a command could have written is not used to make one", async () => {
    using project = new TestFolder();
    for (const name of ["bwrap", "socat", "rg"]) writeFileSync(project.path(name), "#!/bin/sh\n", { mode: 0o755 });
    expect(await openSandbox({ root: project.root, env: { PATH: project.root } })).toMatchObject({ available: false });
    await using inside = await sandboxOf(project, { env: { PATH: `${project.root}:${process.env.PATH}` } });
    expect(await run("echo in; touch ../out", inside, project)).toMatch(/^in\n.*Read-only/);
  });

  test("a domain that is none is refused", async () => {
    for (const domain of ["*", "https://example.org", ""])
      await expect(openSandbox({ root: folder.root, network: { allow: [domain] } })).rejects.toMatchObject({
        code: "policy",
      });
  });
});
