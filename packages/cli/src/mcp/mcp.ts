import { existsSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute } from "node:path";
import { addMcpServer, configuredServers, type McpContext, removeMcpServer, signOutOfServer } from "@banyan/host/mcp";
import { ownCommand } from "@banyan/host/own-command";
import { listing } from "../output/listing.ts";
import type { ExitCode } from "../program/exit.ts";
import { exitCodes } from "../program/exit.ts";
import { UsageError } from "../program/problem.ts";
import type { AddedEntry, McpArguments } from "./arguments.ts";
import { connected, reportUnusable } from "./connected-servers.ts";
import { listMcpServers } from "./list.ts";
import { testServer } from "./test-server.ts";

/** `banyan mcp`: the MCP servers of this directory. Calls no model. */
export function mcp(args: McpArguments): Promise<ExitCode> {
  return listing(async (write, warn) => {
    const context: McpContext = { env: process.env, home: homedir(), cwd: realpathSync(".") };
    switch (args.action) {
      case "list":
        return listMcpServers(context, args.output, write, warn);
      case "add":
        write(
          `Added ${args.name} to ${addMcpServer(context, args.name, args.entry)}. To test the server: ${ownCommand(`mcp test ${args.name}`)}\n`,
        );
        for (const path of filesFromHere(args.entry))
          warn(
            `banyan looks for ${path} in the directory in which you start banyan. For other directories, remove the server and add it with an absolute path.`,
          );
        return;
      case "remove":
        write(`${args.name} was removed from ${await removeMcpServer(context, args.name)}.\n`);
        return;
      case "test":
        return await testServer(context, args.name, write, warn);
      case "login":
        return await login(context, args.name, write, warn);
    }
  });
}

/** Files that an entry names relative to this directory; empty if the entry sets its own folder. */
function filesFromHere(entry: AddedEntry): string[] {
  if (entry.cwd !== undefined && isAbsolute(entry.cwd)) return [];
  // A command without a slash is looked up in PATH.
  const command = entry.command?.includes("/") ? [entry.command] : [];
  return [...command, ...(entry.args ?? [])].filter(
    (text) => !isAbsolute(text) && existsSync(text) && statSync(text).isFile(),
  );
}

async function login(
  context: McpContext,
  name: string,
  write: (text: string) => void,
  warn: (sentence: string) => void,
): Promise<ExitCode> {
  const known = configuredServers(context).servers.find((server) => server.name === name);
  if (known && "command" in known.entry) {
    throw new UsageError(`${name} is a program and needs no sign-in. Put the program's secrets into env.`);
  }
  if (known) await signOutOfServer(context, name, known.entry);
  await using server = await connected(context, name, true, write);
  if (server.state.status !== "ready") return reportUnusable(server, warn);
  write(`${name} is ready, with ${server.state.tools} tools.\n`);
  return exitCodes.done;
}
