import { counted, visibleLine } from "@banyan/core/shown";
import { listedHooks } from "@banyan/host";
import type { McpServerState } from "@banyan/host/mcp";
import { ownCommand } from "@banyan/host/own-command";
import { plainLine } from "../show/plain-text.ts";
import { table } from "../show/table.ts";
import type { ConversationContext, OwnContext } from "./command.ts";

export function showHooks({ write, screen: { style } }: ConversationContext, { host }: OwnContext): void {
  const sources = listedHooks(host);
  const { statusLine } = host.configuration.settings;
  if (sources.length === 0)
    write("No hooks. Add hooks to your settings under hooks, in the format of Claude Code and codex.");
  for (const { file, isUsed, hooks } of sources) {
    const why = isUsed ? "" : " – not run: this project is not trusted. --trust turns it on";
    write(`${style.bold(visibleLine(file))}${style.warning(why)}`);
    // Show the whole command: a cut could hide the part that matters.
    write(
      ...table(hooks.map(({ event, matcher, command }) => [`  ${event}`, visibleLine(matcher), visibleLine(command)])),
    );
  }
  // The status line is a command that runs beside the conversation like a hook, so users look for it here.
  if (statusLine) write(`${style.bold("The status line is written by")} ${visibleLine(statusLine.command)}`);
}

export async function showServers({ write }: ConversationContext, { host }: OwnContext): Promise<void> {
  const { mcp: servers } = await host.ready();
  const states = servers?.states ?? [];
  if (states.length === 0)
    write(`No MCP servers are set up. ${ownCommand("mcp add --help")} explains how to add a server.`);
  const promptsOf = (name: string) => servers?.prompts.filter(({ server }) => server === name).length ?? 0;
  write(
    ...table(
      states.map((state) => [state.name, state.status, plainLine(serverStateText(state, promptsOf(state.name)))]),
    ),
  );
}

function serverStateText(state: McpServerState, prompts: number): string {
  if (state.status === "ready")
    return [counted(state.tools, "tool"), ...(prompts > 0 ? [counted(prompts, "prompt")] : [])].join(", ");
  return "reason" in state && typeof state.reason === "string" ? state.reason : "";
}
