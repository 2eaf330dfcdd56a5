import { homedir } from "node:os";
import type { ClientEvents } from "@banyan/client";
import { errorMessage } from "@banyan/core/shown";
import { openHost } from "@banyan/host";
import type { McpServerEntry } from "@banyan/host/mcp";
import type { AcpWorkspace, SessionLocation } from "@banyan/server/acp";
import { OwnDesk } from "../chat/talk/own-desk.ts";
import { hostFlags, isProjectTrusted } from "../program/host-options.ts";
import { plainLine } from "../show/plain-text.ts";
import type { AcpArguments } from "./arguments.ts";
import { editorCommands } from "./editor-commands.ts";

/** Opens workspaces for `banyan acp`, whose agents run in this process. */
export class OwnWorkspaces implements AsyncDisposable {
  readonly #args: AcpArguments;
  readonly #opened = new Set<{ close(): Promise<void> }>();

  constructor(args: AcpArguments) {
    this.#args = args;
  }

  async open({ cwd, servers }: SessionLocation, events: ClientEvents): Promise<AcpWorkspace> {
    const notices: string[] = [];
    const say = (sentence: string) => {
      notices.push(sentence);
    };
    const host = await openHost({
      cwd,
      env: process.env,
      home: homedir(),
      flags: { ...hostFlags(this.#args), mcpServers: editorServers(servers, say) },
      canAsk: true,
      notice: writeNotice,
      trusted: isProjectTrusted({ cwd, trust: this.#args.trust }, say),
      readyLater: true,
    });
    // Slow parts open while the user types. The next turn reports a failure.
    host.ready().catch(() => {});
    const own = new OwnDesk(host, (error) => writeNotice(errorMessage(error)));
    this.#opened.add({
      async close() {
        await own[Symbol.asyncDispose]();
        await host.close();
      },
    });
    const client = await own.client(events);
    return {
      client,
      workspace: host.workspace,
      // The host finds faults in skills and commands during startup.
      get notices() {
        return [...notices, ...host.notices];
      },
      commands: editorCommands(client),
      close: (conversation) => own.close(conversation),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#opened].map((opened) => opened.close()));
  }
}

/** Converts the editor's MCP servers to settings. `say` receives a sentence for each unusable server. */
function editorServers(
  servers: SessionLocation["servers"],
  say: (sentence: string) => void,
): Record<string, McpServerEntry> {
  const entries: Record<string, McpServerEntry> = {};
  for (const server of servers) {
    // The server's name becomes part of tool names.
    const name =
      server.name
        .replaceAll(/[^\w.-]/g, "_")
        .replace(/^[^A-Za-z0-9]+/, "")
        .slice(0, 64) || "editor";
    if ("command" in server) {
      const { command, args, env } = server;
      entries[name] = { command, args, env: Object.fromEntries(env.map((each) => [each.name, each.value])) };
    } else if ("url" in server && server.type === "http")
      entries[name] = {
        url: server.url,
        headers: Object.fromEntries(server.headers.map((each) => [each.name, each.value])),
      };
    else say(`The MCP server ${server.name} is not used: Banyan supports stdio and http, not ${server.type}.`);
  }
  return entries;
}

function writeNotice(sentence: string): void {
  process.stderr.write(`banyan: ${plainLine(sentence)}\n`);
}
