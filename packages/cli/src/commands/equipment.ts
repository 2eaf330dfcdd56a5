import { counted, visibleLine } from "@banyan/core/shown";
import { listedHooks } from "@banyan/host";
import type { McpServerState } from "@banyan/host/mcp";
import { ownCommand } from "@banyan/host/own-command";
import { oneLine } from "../show/plain-text.ts";
import { table } from "../show/table.ts";
import type { ConversationContext, OwnContext } from "./command.ts";

/** Writes the hooks by the files that they stand in. */
export function showHooks({ style, write }: ConversationContext, { host }: OwnContext): void {
  const sources = listedHooks(host);
  const { statusLine } = host.configuration.settings;
  if (sources.length === 0)
    write("No hooks. Add them under hooks in your settings, in the format of Claude Code and codex.");
  for (const { file, isUsed, hooks } of sources) {
    const why = isUsed ? "" : " – not run: this project is not trusted. --trust turns it on";
    write(`${style.bold(visibleLine(file))}${style.warning(why)}`);
    // A command is shown whole: what is cut off could be what matters.
    write(
      ...table(hooks.map(({ event, matcher, command }) => [`  ${event}`, visibleLine(matcher), visibleLine(command)])),
    );
  }
  // It runs beside a conversation as they do, and so belongs to what one looks for here.
  if (statusLine) write(`${style.bold("The status line is written by")} ${visibleLine(statusLine.command)}`);
}

/** Writes the state of the MCP servers. */
export async function showServers({ write }: ConversationContext, { host }: OwnContext): Promise<void> {
  const { mcp: servers } = await host.ready();
  const states = servers?.states ?? [];
  if (states.length === 0)
    write(`There are no MCP servers here. ${ownCommand("mcp add --help")} explains how to add one.`);
  const promptsOf = (name: string) => servers?.prompts.filter(({ server }) => server === name).length ?? 0;
  write(...table(states.map((state) => [state.name, state.status, oneLine(about(state, promptsOf(state.name)))])));
}

function about(state: McpServerState, prompts: number): string {
  if (state.status === "ready")
    return [counted(state.tools, "tool"), ...(prompts > 0 ? [counted(prompts, "prompt")] : [])].join(", ");
  return "reason" in state && typeof state.reason === "string" ? state.reason : "";
}
