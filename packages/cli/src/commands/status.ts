import { pathTo, totalTokens } from "@banyan/core/conversation";
import { counted, formatCost, formatCount, visibleLine } from "@banyan/core/shown";
import type { Result } from "@banyan/protocol";
import { rightFor } from "@banyan/protocol/values";
import { conversationFile } from "@banyan/store/sqlite";
import type { FormatterFailure } from "@banyan/tools/formatters";
import type { LanguageServerState } from "@banyan/tools/language-servers";
import { approvalWords } from "../chat/views/approval-mode.ts";
import { titleLine } from "../chat/views/exchange.ts";
import { branchStatus, contextTokens } from "../chat/views/prompt-status.ts";
import { type DescribedName, nameLines } from "../show/name-lines.ts";
import { plainLine } from "../show/plain-text.ts";
import { runningProcesses } from "../show/sub-agents.ts";
import type { ConversationContext, OwnContext } from "./command.ts";

/**
 * Prints the status of the conversation. If the agent runs in this process, also prints its file, memory and tool
 * servers.
 */
export async function showStatus(context: ConversationContext): Promise<void> {
  const { own, leaf, user } = context;
  const held = await sandboxRows(context);
  if (own) return writeRows(context, [...statusRows(context), ...held, ...(await rowsOfOwn(context, own))]);
  const mayAsk = leaf !== null && user.rights.includes("act");
  const left = mayAsk ? [statusRow("context", await contextLeft(context))] : [];
  writeRows(context, [...statusRows(context), ...held, AT_SERVER, ...left]);
}

/** The row of the sandbox. Empty for guests, and for agents without a workspace. */
async function sandboxRows({ user, ask }: ConversationContext): Promise<DescribedName[]> {
  if (!user.rights.includes(rightFor("sandbox.read")) || user.without?.includes("sandbox.read")) return [];
  const { state } = (await ask({ command: "sandbox.read", input: {}, isHere: false })) as Result<"sandbox.read">;
  return [statusRow("sandbox", `${state} /sandbox lists the addresses`)];
}

async function rowsOfOwn(context: ConversationContext, own: OwnContext): Promise<DescribedName[]> {
  const { session, host } = own;
  const file = session ? conversationFile(host.places.data, session.id) : "none before the first message";
  return [
    statusRow("file", file),
    statusRow("folder", context.directory),
    statusRow("context", await contextLeft(context)),
    statusRow("memory", await memoryOf(own)),
    statusRow("MCP", await serversOf(own)),
    statusRow("checks", await checksOf(own)),
  ];
}

const AT_SERVER = statusRow("file", "at the server; /export writes one here");

function statusRow(name: string, text: string): DescribedName {
  return { name: [name], text: plainLine(text) };
}

function writeRows({ write, screen: { columns, style } }: ConversationContext, rows: readonly DescribedName[]): void {
  write(...nameLines(rows, columns, { dim: (text) => text, accent: style.accent }));
}

function statusRows(context: ConversationContext): DescribedName[] {
  const {
    state,
    leaf,
    models,
    turns: { mode, approval },
  } = context;
  const { branch } = branchStatus(state, leaf);
  const running = runningProcesses(state).length;
  return [
    statusRow("model", models.current.name),
    statusRow("mode", mode),
    statusRow("approval", `${approval}: ${approvalWords(approval)}`),
    ...(state.messages.size === 0
      ? [statusRow("conversation", "new, no messages yet")]
      : [statusRow("conversation", `${visibleLine(state.id)}: ${titleLine(state, leaf)}`)]),
    ...(branch ? [statusRow("branch", `${branch.number} of ${branch.count}`)] : []),
    statusRow("cost", `${formatCost(state.cost)} for ${formatCount(totalTokens(state.usage))} tokens`),
    ...(running > 0 ? [statusRow("background", `${counted(running, "command")}; /tasks lists them`)] : []),
  ];
}

/** Free context of the model on the branch: by the provider's count if there is one, as the status line shows it. */
async function contextLeft({ sentHere, state, leaf }: ConversationContext): Promise<string> {
  const { parts, size } = await sentHere();
  const sent = contextTokens(pathTo(state, leaf)) ?? parts.reduce((sum, { tokens }) => sum + tokens, 0);
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
  return `${ready} of ${counted(states.length, "server")} ready: ${states.map(({ name }) => name).join(", ")}; /mcp shows details`;
}

async function checksOf({ host }: OwnContext): Promise<string> {
  const { checks } = await host.ready();
  if (!checks) return "off; language servers run only in a trusted folder, and only in the sandbox";
  const failed = await checks.failedFormatters();
  return [serversText(await checks.states()), ...failed.map(formatterText)].join("; ");
}

function serversText(servers: readonly LanguageServerState[] | undefined): string {
  if (!servers) return "off; the setting languageServers switches them off";
  if (servers.length === 0) return "no language server is installed";
  return servers
    .map(({ name, status, reason }) => `${name} ${reason === undefined ? status : `${status}: ${reason}`}`)
    .join(", ");
}

function formatterText({ name, path, reason }: FormatterFailure): string {
  return `the formatter ${name} failed for ${path}: ${reason}`;
}
