import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { living, uniqueSleep, until } from "../workspace/commands/processes.fixture.ts";
import { openWorkspace, shellTool } from "../workspace/index.ts";
import { call, TestFolder } from "../workspace/test-folder.fixture.ts";
import { openSandbox, type Sandbox } from "./index.ts";
import { sandboxOf, startIn, whyNoSandbox } from "./sandbox.fixture.ts";

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
    const base = dirname((await run("echo $TMPDIR", killed, project)).trim());
    const [id] = living("sandbox-process.ts").filter((id) => folderOf(id).startsWith(base));
    // T67: a command that ends after its sandbox is not done.
    const late = run("touch begun; until test -e go; do sleep 0.05; done; rm begun go; echo ended", killed, project);
    const lost = expect(late).rejects.toThrow("ended\n[the sandbox ended before the command");
    await until(() => project.names().includes("begun"));
    process.kill(Number(id), "SIGKILL");
    await until(() => !existsSync(`/proc/${id}`));
    project.add("go", "");
    await lost;
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
