import { totalTokens } from "@banyan/core/conversation";
import { counted, formatCost, formatCount, visibleLine } from "@banyan/core/shown";
import { conversationFile } from "@banyan/store/sqlite";
import { approvalWords } from "../chat/views/approval-mode.ts";
import { titleLine } from "../chat/views/exchange.ts";
import { branchOf } from "../chat/views/status-of.ts";
import { type Described, described } from "../show/described.ts";
import { oneLine } from "../show/plain-text.ts";
import { runningProcesses } from "../show/sub-agents.ts";
import { ASK, type Command, type CommandContext, type ConversationContext } from "./command.ts";

const ABOUT = {
  name: "status",
  help: "show where you are: the model, what runs unasked, the conversation and its file, context, cost",
  anytime: true,
} as const;

/** With what is known of a program's own host: the file, memory, and the servers of tools. */
export const status: Command = {
  ...ABOUT,
  async run(context) {
    const { host, state, session, directory } = context;
    const file = session ? conversationFile(host.places.data, state.id) : "none before the first message";
    show(context, [
      ...rowsOf(context),
      row("file", file),
      row("folder", directory),
      row("context", await contextLeft(context)),
      row("memory", await memoryOf(context)),
      row("MCP", await serversOf(context)),
    ]);
    return ASK;
  },
};

/** At a server, which keeps the conversation and has a memory and tools of its own. */
export const statusHere: Command<ConversationContext> = {
  ...ABOUT,
  async run(context) {
    const left = context.leaf === null ? [] : [row("context", await contextLeft(context))];
    show(context, [...rowsOf(context), AT_SERVER, ...left]);
    return ASK;
  },
};

/** For who may only watch, and is not told what the model is sent. */
export const statusShown: Command<ConversationContext> = {
  ...ABOUT,
  run(context) {
    show(context, [...rowsOf(context), AT_SERVER]);
    return ASK;
  },
};

const AT_SERVER = row("file", "at the server; /export writes one here");

function row(name: string, text: string): Described {
  return { name: [name], text: oneLine(text) };
}

function show({ columns, style, write }: ConversationContext, rows: readonly Described[]): void {
  write(...described(rows, columns, { dim: (text) => text, accent: style.accent }));
}

/** What is known wherever the conversation is. */
function rowsOf(context: ConversationContext): Described[] {
  const { state, leaf, models, mode, approval } = context;
  const { branch } = branchOf(state, leaf);
  const running = runningProcesses(state).length;
  return [
    row("model", models.current.name),
    row("mode", mode),
    row("approval", `${approval}: ${approvalWords(approval)}`),
    ...(state.messages.size === 0
      ? [row("conversation", "new: nothing has been said yet")]
      : [row("conversation", `${visibleLine(state.id)}: ${titleLine(state, leaf)}`)]),
    ...(branch ? [row("branch", `${branch.number} of ${branch.count}`)] : []),
    row("cost", `${formatCost(state.cost)} for ${formatCount(totalTokens(state.usage))} tokens`),
    ...(running > 0 ? [row("background", `${counted(running, "command")}; /tasks lists them`)] : []),
  ];
}

/** How much of what the model takes is free on the branch, as far as that is known. */
async function contextLeft({ sentHere }: ConversationContext): Promise<string> {
  const { parts, size } = await sentHere();
  const sent = parts.reduce((sum, { tokens }) => sum + tokens, 0);
  if (size === undefined) return `about ${formatCount(sent)} tokens are sent; how much the model takes is not known`;
  const left = Math.max(0, size - sent);
  const share = Math.round((100 * left) / size);
  return `about ${formatCount(left)} of ${formatCount(size)} tokens left (${share} %); /context shows what is sent`;
}

async function memoryOf({ host, session }: CommandContext): Promise<string> {
  const { memory } = await host.ready();
  if (!memory) return "off; /memory says what it would be";
  return session && !(await memory.isOn(session.id)) ? "off for this conversation" : "on";
}

async function serversOf({ host }: CommandContext): Promise<string> {
  const { mcp } = await host.ready();
  const states = mcp?.states ?? [];
  if (states.length === 0) return "no servers";
  const ready = states.filter(({ status }) => status === "ready").length;
  return `${ready} of ${counted(states.length, "server")} ready: ${states.map(({ name }) => name).join(", ")}; /mcp says more`;
}
