import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { AcpJudge } from "../../testing/acp-frames.fixture.ts";
import { temporaryDirectory } from "../../testing/serving.fixture.ts";

const run = promisify(execFile);
const isLong = process.env.BANYAN_LONG === "1";
const MAIN = process.env.BANYAN_TEST_PROGRAM ?? fileURLToPath(new URL("../../../../cli/src/main.ts", import.meta.url));
const PATIENCE = 120_000;

/** A flow of one step. */
const FLOW = `import { acp, defineFlow } from "acpx/flows";
const ask = acp({ prompt: () => "read notes.txt", parse: (text) => ({ text }) });
export default defineFlow({ name: "one", startAt: "ask", nodes: { ask }, edges: [] });
`;

/** Installs acpx, an independent client, in its own folder; `undefined` if npm cannot install it. */
async function installed(folder: string): Promise<string | undefined> {
  const node = dirname(process.execPath);
  const env = { ...process.env, PATH: `${node}:${process.env.PATH}` };
  const args = ["install", "--ignore-scripts", "--no-save", "--prefix", folder, "acpx@0.19.1"];
  await run("npm", args, { cwd: folder, env, timeout: PATIENCE }).catch(() => {});
  const home = join(folder, "node_modules", "acpx");
  if (!existsSync(home)) return undefined;
  const { bin } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
  return join(home, typeof bin === "string" ? bin : bin.acpx);
}

test.skipIf(!isLong)(
  "acpx drives banyan acp by all its commands, and each frame of both sides fits the protocol's schema (long mode, with npm)",
  async ({ skip }) => {
    const folder = temporaryDirectory();
    const acpx = await installed(folder);
    if (acpx === undefined) return skip("npm cannot install acpx here.");
    const workspace = join(folder, "workspace");
    mkdirSync(workspace);
    const { PATH, NODE_COMPILE_CACHE, TMPDIR } = process.env;
    const env = {
      NODE_COMPILE_CACHE,
      TMPDIR,
      HOME: folder,
      BANYAN_HOME: join(folder, "banyan"),
      BANYAN_NO_DISCOVERY: "1",
      PATH: `${dirname(process.execPath)}:${PATH}`,
    };
    const agent = `${process.execPath} ${MAIN} acp --model demo/offline`;
    const of = async (options: readonly string[], ...command: readonly string[]) => {
      const args = [acpx, "--agent", agent, "--ttl", "20", ...options, ...command];
      const { stdout } = await run(process.execPath, args, { cwd: workspace, env, timeout: PATIENCE });
      return stdout;
    };
    onTestFinished(() =>
      of([], "sessions", "close", "one")
        .then(() => {})
        .catch(() => {}),
    );

    const judge = new AcpJudge();
    const told = await of(["--approve-all", "--format", "json"], "exec", 'create notes.txt with "buy milk"');
    for (const line of told.trim().split("\n")) {
      const frame = JSON.parse(line);
      // The method shows the sender of a request, and the content the sender of a response.
      const isAgents = "result" in frame || "error" in frame ? !isOfEditor(frame) : isMethodOfEditor(frame.method);
      judge.take(isAgents ? "agent" : "editor", frame);
    }
    expect(judge.faults).toEqual([]);
    expect(readFileSync(join(workspace, "notes.txt"), "utf8")).toBe("buy milk");
    expect(told).toContain('"stopReason":"end_turn"');

    await of(["--deny-all"], "exec", 'create no.txt with "nothing"').catch(() => {});
    expect(existsSync(join(workspace, "no.txt"))).toBe(false);
    await of([], "sessions", "new", "--name", "one");
    expect(await of(["--approve-all"], "prompt", "-s", "one", "read notes.txt")).toContain("buy milk");
    expect(await of([], "set", "-s", "one", "mode", "edits")).toContain("mode=edits");
    expect(await of([], "set-mode", "-s", "one", "ask")).toContain("ask");
    expect(await of([], "status", "-s", "one")).toContain("demo/offline");
    await of([], "cancel", "-s", "one");
    expect(await of([], "sessions", "list")).toContain("notes.txt");
    expect(await of([], "sessions", "ensure", "--name", "one")).toContain("existing");
    expect(await of([], "sessions", "show", "one")).toContain("demo/offline");
    for (const told of ["history", "read"]) expect(await of([], "sessions", told, "one")).toContain("read notes.txt");
    expect(await of(["--no-fs", "--no-terminal", "--approve-reads"], "exec", "read notes.txt")).toContain("buy milk");
    expect(await ofWatch("one")).toContain("buy milk");
    await of([], "sessions", "close", "one");

    // An exported and imported session continues.
    const archive = join(folder, "one.zip");
    await of([], "sessions", "export", "one", "--output", archive);
    expect(await of([], "sessions", "prune")).toContain("(one)");
    await of([], "sessions", "import", archive, "--name", "back");
    expect(await of(["--approve-all"], "prompt", "-s", "back", "read notes.txt")).toContain("buy milk");
    await of([], "sessions", "close", "back");

    const servers = join(folder, "mcp.json");
    writeFileSync(servers, JSON.stringify({ mcpServers: [] }));
    const withServers = ["--mcp-config", servers, "--model", "demo/offline", "--approve-reads"];
    expect(await of(withServers, "exec", "read notes.txt")).toContain("buy milk");

    // Two named agents side by side, and one as a step of a flow.
    mkdirSync(join(folder, ".acpx"), { recursive: true });
    const agents = { banyan: { command: agent }, other: { command: agent } };
    writeFileSync(join(folder, ".acpx", "config.json"), JSON.stringify({ agents }));
    const compared = await named("compare", "banyan", "other", "read notes.txt");
    expect(compared.match(/end_turn/g)).toHaveLength(2);
    const flow = join(folder, "flow.mjs");
    writeFileSync(flow, FLOW);
    expect(await named("flow", "run", flow, "--default-agent", "banyan")).toContain("buy milk");

    /** Runs a command with the names of the configuration. */
    async function named(...command: readonly string[]): Promise<string> {
      const { stdout } = await run(process.execPath, [acpx as string, "--approve-all", ...command], {
        cwd: workspace,
        env,
        timeout: PATIENCE,
      });
      return stdout;
    }
    /** The output of a session to a client that watches for a while. */
    async function ofWatch(name: string): Promise<string> {
      const args = [acpx as string, "--agent", agent, "sessions", "watch", "-s", name];
      const watching = run(process.execPath, args, { cwd: workspace, env, timeout: 10_000 });
      return watching.then(
        ({ stdout }) => stdout,
        ({ stdout }: { readonly stdout: string }) => stdout,
      );
    }
    /** Returns true if a response is the editor's: to a permission request, or with a file's content. */
    function isOfEditor({ result }: { readonly result?: object }): boolean {
      return result !== undefined && ("outcome" in result || "content" in result || "action" in result);
    }
    function isMethodOfEditor(method: string): boolean {
      return /^(session\/(update|request_permission)|fs\/|terminal\/|elicitation\/)/.test(method);
    }
  },
);
