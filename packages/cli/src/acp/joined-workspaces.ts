import { realpathSync } from "node:fs";
import type { Client, ClientEvents } from "@banyan/client";
import { connect } from "@banyan/client/node";
import type { AcpWorkspace, SessionLocation } from "@banyan/server/acp";
import manifest from "../../package.json" with { type: "json" };
import { findServer } from "../attach/which-server.ts";
import { UsageError } from "../program/problem.ts";
import { editorCommands } from "./editor-commands.ts";

export interface EditorWorkspaces extends AsyncDisposable {
  open(where: SessionLocation, events: ClientEvents): Promise<AcpWorkspace>;
}

/**
 * Opens workspaces for `banyan acp --attach` on a running server, where other clients see the same conversations. Runs
 * continue after the editor ends. `address` is the server's address, or `true` for the server of the session's
 * directory.
 */
export function serverWorkspaces(address: string | true): EditorWorkspaces {
  const clients = new Set<Client>();
  return {
    async open({ cwd, servers }, events) {
      const directory = realpathSync(cwd);
      const door = findServer(address === true ? undefined : address, directory);
      const client = await connect({ ...door, client: `banyan acp ${manifest.version}` }, events);
      clients.add(client);
      const { rights, notices = [] } = client.welcome;
      // An agent of another program has no workspace: the editor may have any directory open.
      const workspace = client.welcome.workspace || directory;
      if (workspace !== directory || !rights.includes("act")) {
        client.close();
        const why =
          workspace === directory ? "its token may only watch" : `it works in ${workspace}, not in ${directory}`;
        throw new UsageError(`The server at ${door.address} cannot be used: ${why}.`);
      }
      const names = servers.map(({ name }) => name).join(", ");
      return {
        client,
        workspace,
        notices: [
          ...notices,
          ...(names === ""
            ? []
            : [`The server uses its own MCP servers and ignores the editor's MCP servers: ${names}.`]),
        ],
        commands: editorCommands(client),
        // Other clients may have the conversation open. The server closes it by itself.
        close: async () => {},
      };
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.close();
    },
  };
}
