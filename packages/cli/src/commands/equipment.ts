import { counted, visibleLine } from "@banyan/core/shown";
import { listedHooks } from "@banyan/host";
import type { McpServerState } from "@banyan/host/mcp";
import { ownCommand } from "@banyan/host/own-command";
import { oneLine } from "../show/plain-text.ts";
import { table } from "../show/table.ts";
import { ASK, type Command } from "./command.ts";

export const hooks: Command = {
  name: "hooks",
  help: "list the commands that run at points of a conversation, and the files that they stand in",
  anytime: true,
  run({ host, style, write }) {
    const sources = listedHooks(host);
    const { statusLine } = host.configuration.settings;
    if (sources.length === 0)
      write("There are no hooks here. The setting hooks takes them, in the form that Claude Code and codex have.");
    for (const { file, isUsed, hooks } of sources) {
      const why = isUsed ? "" : " – not run: this project is not trusted; --trust uses it";
      write(`${style.bold(visibleLine(file))}${style.warning(why)}`);
      // A command is shown whole: what is cut off could be what matters.
      write(
        ...table(
          hooks.map(({ event, matcher, command }) => [`  ${event}`, visibleLine(matcher), visibleLine(command)]),
        ),
      );
    }
    // It runs beside a conversation as they do, and so belongs to what one looks for here.
    if (statusLine) write(`${style.bold("The status line is written by")} ${visibleLine(statusLine.command)}`);
    return ASK;
  },
};

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
