import { tmpdir } from "node:os";
import { openServers } from "@banyan/host/mcp";
import type { ServedHost } from "../desk/commands/workplace.ts";

/** Lets the agents of a host work with the MCP server `late`, which never answers, until it is disposed of. */
export async function lateServer(host: ServedHost): Promise<AsyncDisposable> {
  const silent = { command: process.execPath, args: ["-e", "setInterval(() => {}, 1000)"] };
  const mcp = await openServers({ env: {}, home: tmpdir(), cwd: tmpdir() }, { late: silent });
  const { ready } = host;
  host.ready = async () => ({ mcp }) as Awaited<ReturnType<ServedHost["ready"]>>;
  return {
    async [Symbol.asyncDispose]() {
      host.ready = ready;
      await mcp[Symbol.asyncDispose]();
    },
  };
}
