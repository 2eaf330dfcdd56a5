import { type ChildProcess, execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readdirSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { emptyConversation } from "@banyan/core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openWorkspace, shellTool } from "../workspace/index.ts";
import { call, TestFolder } from "../workspace/test-folder.fixture.ts";
import type { Sandbox } from "./index.ts";
import { SandboxProgram } from "./programs.fixture.ts";
import { helloServer, sandboxOf, startIn, whyNoSandbox } from "./sandbox.fixture.ts";

const isRoot = process.getuid?.() === 0;
const reason = await whyNoSandbox();

beforeEach(({ skip }) => {
  if (reason !== undefined) skip(reason);
});

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

/** Starts a server in a conversation, and resolves when it listens. */
async function serve(port: number, conversation: string, inside = sandbox): Promise<ChildProcess & AsyncDisposable> {
  const script = `socat TCP-LISTEN:${port},bind=127.0.0.1,fork,reuseaddr SYSTEM:'echo from ${conversation}' & until socat -u /dev/null TCP:127.0.0.1:${port} 2>/dev/null; do sleep 0.02; done; echo up; wait`;
  const server = await startIn(inside, folder, script, undefined, conversation);
  await once(server.stdout ?? server, "data");
  return server;
}

/** Returns the output of a command of a conversation. */
function run(command: string, id: string, inside = sandbox, at = folder): Promise<string> {
  const tool = shellTool(openWorkspace(at.root), { sandbox: inside });
  return call(tool, { command }, { conversation: { ...emptyConversation(), id } });
}

const reach = (port: number) => `socat - TCP:127.0.0.1:${port} </dev/null 2>&1 | head -1`;

describe("commands of one conversation share a loopback", () => {
  test("S39: a later command reaches the server of an earlier one, and other conversations and programs do not", async () => {
    await using _ = await serve(8123, "one");
    expect(await run(reach(8123), "one")).toBe("from one\n");
    expect(await run(reach(8123), "two")).toMatch(/Connection refused/);
    await using own = await startIn(sandbox, folder, reach(8123));
    const [said] = await once(own.stdout ?? own, "data");
    expect(String(said)).toMatch(/Connection refused/);
    await using other = await serve(8123, "two");
    expect(await run(reach(8123), "two")).toBe("from two\n");
    expect(await run(reach(8123), "one")).toBe("from one\n");
    other.kill("SIGKILL");
  });

  test("S39: no command reaches the loopback of the machine, and the machine reaches no server of a command", async () => {
    await using outside = await helloServer();
    expect(await run(reach(outside.port), "one")).toMatch(/Connection refused/);
    await using _ = await serve(8124, "one");
    expect(() => execFileSync("socat", ["-u", "/dev/null", "TCP:127.0.0.1:8124"], { stdio: "pipe" })).toThrow(
      /refused/,
    );
  });

  test("S39: a killed holder gives the next command a new network, and a sentence", async () => {
    const server = await serve(8125, "lost");
    // The newest holder of a sandbox of this process: tests of other processes have holders too.
    const pgrep = (...options: string[]) => execFileSync("pgrep", options, { encoding: "utf8" }).trim();
    const sandboxes = pgrep("-d", ",", "-P", String(process.pid));
    const holder = pgrep("-n", "-P", sandboxes, "-f", "--", "bwrap .*--info-fd 3");
    process.kill(Number(holder), "SIGKILL");
    const said = [await run("sleep 0.2", "lost"), await run(reach(8125), "lost")].join("");
    expect(said).toMatch(/Connection refused/);
    expect(said).toContain("Another program ended the network that the commands of this conversation share.");
    await server[Symbol.asyncDispose]();
    await using _ = await serve(8125, "lost");
    expect(await run(reach(8125), "lost")).toBe("from lost\n");
  });

  test("S39: commands share no rights over the network", async () => {
    const flags = "import fcntl,socket,struct; s=socket.socket(); fcntl.ioctl(s,0x8914,struct.pack('16sh14x',b'lo',0))";
    expect(
      await run(`python3 -c "${flags}" 2>&1 | tail -1; mount -o remount,rw / 2>&1; touch /usr/evil 2>&1`, "one"),
    ).toMatch(/PermissionError.*\n.*mount.*\n.*Read-only file system/s);
  });

  test("S39: commands that start at the same time reach an allowed host, each through the relays of the network", async () => {
    await using server = await helloServer();
    await using inside = await sandboxOf(folder, { network: { allow: [`127.0.0.1:${server.port}`] } });
    const get = `NO_PROXY= no_proxy= NODE_USE_ENV_PROXY=1 ${process.execPath} -e 'fetch("http://127.0.0.1:${server.port}").then(async (r) => console.log(await r.text()))'`;
    const said = await Promise.all([1, 2, 3].map((at) => run(get, at === 3 ? "two" : "one", inside)));
    expect(said).toEqual(["hello\n", "hello\n", "hello\n"]);
    // Without working relays, each command would have a network of its own.
    await using _ = await serve(8124, "one", inside);
    expect(await run(reach(8124), "one", inside)).toBe("from one\n");
  });

  test("S39: without nsenter, each command has its own network, as before", async () => {
    using programs = new TestFolder();
    for (const name of readdirSync("/usr/bin"))
      if (name !== "nsenter") symlinkSync(`/usr/bin/${name}`, programs.path(name));
    await using inside = await sandboxOf(folder, { env: { ...process.env, PATH: programs.root } });
    await using _ = await serve(8126, "one", inside);
    expect(await run(reach(8126), "one", inside)).toMatch(/Connection refused/);
  });

  test("S39: a folder with many repositories, whose mounts need a file", async () => {
    using project = new TestFolder();
    for (let at = 0; at < 45; at++) project.add(`${"x".repeat(200)}${at}/.git/HEAD`, "ref: refs/heads/main\n");
    await using inside = await sandboxOf(project);
    await using _ = await serve(8128, "many", inside);
    expect(await run(reach(8128), "many", inside, project)).toBe("from many\n");
  });

  test.runIf(isRoot)("S39: an ordinary user has the same", async () => {
    using others = new TestFolder();
    using project = new TestFolder();
    const user = { uid: 60_000 + (process.pid % 5000), home: others.root };
    execFileSync("chown", ["-R", `${user.uid}:${user.uid}`, others.root, project.root]);
    for (const each of [others, project])
      for (let above = dirname(each.root); above !== tmpdir(); above = dirname(above)) chmodSync(above, 0o755);
    chmodSync(tmpdir(), 0o755);
    await using program = await SandboxProgram.start(project.root, user);
    const server = program.run(
      "socat TCP-LISTEN:8127,bind=127.0.0.1,fork,reuseaddr SYSTEM:'echo mine' & until [ -e end ]; do sleep 0.05; done",
    );
    while ((await program.run(`sleep 0.1; ${reach(8127)}`)) !== "mine\n");
    project.add("end", "");
    await server;
  });
});
