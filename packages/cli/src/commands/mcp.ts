import { counted } from "@banyan/core/shown";
import type { McpServerState } from "@banyan/host/mcp";
import { ownCommand } from "@banyan/host/own-command";
import { oneLine } from "../show/plain-text.ts";
import { table } from "../show/table.ts";
import { ASK, type Command } from "./command.ts";

export const mcp: Command = {
  name: "mcp",
  help: "show how the MCP servers are doing",
  anytime: true,
  async run({ host, write }) {
    const { mcp: servers } = await host.ready();
    const states = servers?.states ?? [];
    if (states.length === 0)
      write(`There are no MCP servers here. ${ownCommand("mcp add --help")} says how to add one.`);
    const promptsOf = (name: string) => servers?.prompts.filter(({ server }) => server === name).length ?? 0;
    write(...table(states.map((state) => [state.name, state.status, oneLine(about(state, promptsOf(state.name)))])));
    return ASK;
  },
};

function about(state: McpServerState, prompts: number): string {
  if (state.status === "ready")
    return [counted(state.tools, "tool"), ...(prompts > 0 ? [counted(prompts, "prompt")] : [])].join(", ");
  return "reason" in state && typeof state.reason === "string" ? state.reason : "";
}
