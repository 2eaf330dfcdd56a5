import { totalTokens } from "@banyan/core/conversation";
import { counted, formatCost, formatCount, visibleLine } from "@banyan/core/shown";
import { conversationFile } from "@banyan/store/sqlite";
import { approvalWords } from "../chat/views/approval-mode.ts";
import { titleLine } from "../chat/views/exchange.ts";
import { branchOf } from "../chat/views/status-of.ts";
import { type DescribedName, described } from "../show/described.ts";
import { oneLine } from "../show/plain-text.ts";
import { runningProcesses } from "../show/sub-agents.ts";
import type { ConversationContext, OwnContext } from "./command.ts";

/** Prints the user's status. In the agent's own process, also the file, memory and tool servers. */
export async function showStatus(context: ConversationContext): Promise<void> {
  const { own, leaf, user } = context;
  if (own) return show(context, [...rowsOf(context), ...(await rowsOfOwn(context, own))]);
  const mayAsk = leaf !== null && user.rights.includes("act");
  const left = mayAsk ? [row("context", await contextLeft(context))] : [];
  show(context, [...rowsOf(context), AT_SERVER, ...left]);
}

async function rowsOfOwn(context: ConversationContext, own: OwnContext): Promise<DescribedName[]> {
  const { session, host } = own;
  const file = session ? conversationFile(host.places.data, session.id) : "none before the first message";
  return [
    row("file", file),
    row("folder", context.directory),
    row("context", await contextLeft(context)),
    row("memory", await memoryOf(own)),
    row("MCP", await serversOf(own)),
  ];
}

const AT_SERVER = row("file", "at the server; /export writes one here");

function row(name: string, text: string): DescribedName {
  return { name: [name], text: oneLine(text) };
}

function show({ write, screen: { columns, style } }: ConversationContext, rows: readonly DescribedName[]): void {
  write(...described(rows, columns, { dim: (text) => text, accent: style.accent }));
}

/** Rows that are known everywhere. */
function rowsOf(context: ConversationContext): DescribedName[] {
  const {
    state,
    leaf,
    models,
    turns: { mode, approval },
  } = context;
  const { branch } = branchOf(state, leaf);
  const running = runningProcesses(state).length;
  return [
    row("model", models.current.name),
    row("mode", mode),
    row("approval", `${approval}: ${approvalWords(approval)}`),
    ...(state.messages.size === 0
      ? [row("conversation", "new, no messages yet")]
      : [row("conversation", `${visibleLine(state.id)}: ${titleLine(state, leaf)}`)]),
    ...(branch ? [row("branch", `${branch.number} of ${branch.count}`)] : []),
    row("cost", `${formatCost(state.cost)} for ${formatCount(totalTokens(state.usage))} tokens`),
    ...(running > 0 ? [row("background", `${counted(running, "command")}; /tasks lists them`)] : []),
  ];
}

/** Free context of the model on the branch, as far as known. */
async function contextLeft({ sentHere }: ConversationContext): Promise<string> {
  const { parts, size } = await sentHere();
  const sent = parts.reduce((sum, { tokens }) => sum + tokens, 0);
  if (size === undefined)
    return `about ${formatCount(sent)} tokens are sent; the context size of the model is not known`;
  const left = Math.max(0, size - sent);
  const share = Math.round((100 * left) / size);
  return `about ${formatCount(left)} of ${formatCount(size)} tokens left (${share} %); /context shows what is sent`;
}

async function memoryOf({ host, session }: OwnContext): Promise<string> {
  const { memory } = await host.ready();
  if (!memory) return "off; /memory explains it";
  return session && !(await memory.isOn(session.id)) ? "off for this conversation" : "on";
}

async function serversOf({ host }: OwnContext): Promise<string> {
  const { mcp } = await host.ready();
  const states = mcp?.states ?? [];
  if (states.length === 0) return "no servers";
  const ready = states.filter(({ status }) => status === "ready").length;
  return `${ready} of ${counted(states.length, "server")} ready: ${states.map(({ name }) => name).join(", ")}; /mcp says more`;
}
