import { counted } from "@banyan/core/shown";
import type { McpContext, McpServers } from "@banyan/host/mcp";
import { type ExitCode, exitCodes } from "../program/exit.ts";
import { excerptLine } from "../show/fit-text.ts";
import { plainLine } from "../show/plain-text.ts";
import { table } from "../show/table.ts";
import { connected, reportUnusable } from "./connected-servers.ts";

const WIDTH = 80;
const PATIENCE = 60_000;

/** Connects to a server and lists its tools, prompts and resources. Calls no tool. */
export async function testServer(
  context: McpContext,
  name: string,
  write: (text: string) => void,
  warn: (sentence: string) => void,
): Promise<ExitCode> {
  const isWatched = process.stdin.isTTY && process.stdout.isTTY;
  await using server = await connected(context, name, isWatched, write);
  if (server.state.status !== "ready") return reportUnusable(server, warn);
  const sections = await offersOf(server.servers, name);
  const [tools = [], prompts = [], resources = []] = sections;
  const counts = [counted(tools.length, "tool"), counted(prompts.length, "prompt")];
  write(`${name} is ready: ${counts.join(", ")}, ${counted(resources.length, "resource")}.\n`);
  for (const rows of sections.filter((section) => section.length > 0)) {
    const cells = rows.map(([offer, description]) => [`  ${plainLine(offer)}`, excerptLine(description, WIDTH)]);
    write(`\n${table(cells).join("\n")}\n`);
  }
  return exitCodes.done;
}

/** Tools, prompts, resources and resource templates, each with the server's description. */
async function offersOf(servers: McpServers, server: string): Promise<(readonly [string, string])[][]> {
  const signal = AbortSignal.timeout(PATIENCE);
  const resources = await servers.resources(server, signal);
  const templates = await servers.templates(server, signal);
  return [
    servers.tools.map(({ name, description }) => [name, description] as const),
    servers.prompts.map(({ name, description, arguments: wanted }) => {
      const placeholders = wanted.map(({ name, required }) => (required ? ` <${name}>` : ` [${name}]`));
      return [`/${server}:${name}${placeholders.join("")}`, description] as const;
    }),
    resources.map(({ uri, name, description }) => [`@${server}:${uri}`, description || name] as const),
    templates.map(({ uriTemplate, name, description }) => [`@${server}:${uriTemplate}`, description || name] as const),
  ];
}
