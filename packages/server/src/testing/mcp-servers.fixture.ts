import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import type { ServedHost } from "@banyan/desk";
import { openServers } from "@banyan/host/mcp";

type Equipment = Awaited<ReturnType<ServedHost["ready"]>>;

/** A server that never answers. */
const SILENT = { command: process.execPath, args: ["-e", "setInterval(() => {}, 1000)"] };

/** Adds the MCP server `late`, which never answers, to a host until the result is disposed of. */
export async function lateServer(host: ServedHost): Promise<AsyncDisposable> {
  return equipped(host, await serversOf({ late: SILENT }), []);
}

/**
 * Adds prompts to a host until the result is disposed of: prompts of files, and those of the MCP server `trees`
 * (`prompt-program.fixture.ts`), which contain a secret.
 */
export async function promptsOf(
  host: ServedHost,
  files: Equipment["commands"],
  { late = false }: { readonly late?: boolean } = {},
): Promise<AsyncDisposable> {
  const program = fileURLToPath(new URL("./prompt-program.fixture.ts", import.meta.url));
  const trees = { command: process.execPath, args: [program], env: { SECRET: "sk-ofthetrees" } };
  const mcp = await serversOf({ trees, ...(late && { late: SILENT }), off: { command: "x", disabled: true } });
  if (!late) await mcp.settled();
  return equipped(host, mcp, files);
}

function serversOf(entries: Parameters<typeof openServers>[1]) {
  return openServers({ env: {}, home: tmpdir(), cwd: tmpdir() }, entries);
}

function equipped(
  host: ServedHost,
  mcp: Awaited<ReturnType<typeof serversOf>>,
  commands: Equipment["commands"],
): AsyncDisposable {
  const { ready } = host;
  host.ready = async () => ({ agents: [], commands, mcp }) as unknown as Equipment;
  return {
    async [Symbol.asyncDispose]() {
      host.ready = ready;
      await mcp[Symbol.asyncDispose]();
    },
  };
}
