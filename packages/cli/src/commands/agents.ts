import { type SubAgent, subAgentsOf } from "@banyan/core/conversation";
import { formatDuration } from "@banyan/core/shown";
import { callWord } from "../show/call-line.ts";
import { excerpt } from "../show/fit-text.ts";
import { oneLine } from "../show/plain-text.ts";
import { table } from "../show/table.ts";
import { ASK, type Command, type CommandContext, type ConversationContext } from "./command.ts";

export const agents: Command = {
  name: "agents",
  takes: "[stop n | tell n text]",
  help: "list the sub-agents of this conversation, stop one, or tell it something; and the agents that can be launched",
  anytime: true,
  async run(context, argument) {
    const [, action = "", number = "", text = ""] = /^(\S*)\s*(\S*)\s*(.*)$/s.exec(argument) ?? [];
    const all = subAgentsOf(context.state);
    if (action === "") await list(context, all);
    else if (action === "stop" || action === "tell") {
      const named = all.find((agent) => String(agent.number) === number);
      if (!named?.run) context.write(`No sub-agent ${excerpt(number, 20)} is at work. /agents lists them.`);
      else if (action === "stop") await stop(context, named, named.run.id);
      else await tell(context, named, named.run.id, text);
    } else context.write(`/agents cannot ${excerpt(action, 20)}: it knows stop and tell.`);
    return ASK;
  },
};

/** Where they can only be looked at. */
export const agentsHere: Command<ConversationContext> = {
  name: "agents",
  help: "show the sub-agents of this conversation",
  anytime: true,
  async run({ state, viewAgents, columns, write }) {
    const all = subAgentsOf(state);
    if (all.length === 0) write("No sub-agent was launched in this conversation.");
    else if (viewAgents) await viewAgents();
    else write(...table(all.map((agent) => rowOf(agent, columns))));
    return ASK;
  },
};

async function list(context: CommandContext, all: readonly SubAgent[]): Promise<void> {
  const { host, columns, style, write, viewAgents } = context;
  if (all.length > 0 && viewAgents) return viewAgents();
  if (all.length === 0) write("No sub-agent was launched in this conversation.");
  write(...table(all.map((agent) => rowOf(agent, columns))));
  const { agents: named } = await host.ready();
  if (named.length > 0) write("", style.dim("These can be launched by name:"));
  write(...table(named.map(({ name, description }) => [oneLine(name), oneLine(description)])));
}

function rowOf({ number, name = "", task, call }: SubAgent, columns: number): string[] {
  const took = call.startedAt === undefined ? undefined : (call.endedAt ?? Date.now()) - call.startedAt;
  const status = `${callWord(call)}${took === undefined ? "" : `, ${formatDuration(took)}`}`;
  return [String(number), status, oneLine(name), excerpt(task, Math.max(20, columns - 40))];
}

async function stop({ session, write }: CommandContext, { number }: SubAgent, run: string): Promise<void> {
  await session?.interrupt(run);
  write(`Stopping agent ${number}: what it has found goes to who launched it.`);
}

async function tell(context: CommandContext, { number }: SubAgent, run: string, text: string): Promise<void> {
  if (text === "") return context.write(`Write behind the number what agent ${number} is to be told.`);
  const { session, mode } = context;
  await session?.say([{ type: "text", text }], { run, delivery: "steer", mode });
  context.write(`Agent ${number} is told before it does the next thing.`);
}
