import { formatDuration, lastFindings, type SubAgent, subAgentsOf } from "@banyan/client/words";
import { pathTo } from "@banyan/core";
import { planHeadline, planOnPath, shownPlan, visibleLine } from "@banyan/core/shown";
import { callWord } from "../show/call-line.ts";
import { excerptLine, wrapSentence } from "../show/fit-text.ts";
import { waitingText, waitingWord } from "../show/message-label.ts";
import { plainLine } from "../show/plain-text.ts";
import { runningProcesses } from "../show/sub-agents.ts";
import { table } from "../show/table.ts";
import { cutToWidth } from "../terminal/full/screen/cells.ts";
import type { ConversationContext } from "./command.ts";

export function showPlan({ state, leaf, write, screen: { columns, style } }: ConversationContext): void {
  const steps = planOnPath(pathTo(state, leaf));
  if (!steps) return write("There is no plan on this branch.");
  write(style.dim(`Plan: ${planHeadline(steps)}`));
  for (const { mark, text, status } of shownPlan(steps)) {
    const lines = wrapSentence(`    ${mark} ${text}`, columns).split("\n");
    write(...(status === "in_progress" ? lines.map(style.bold) : lines));
  }
}

/** Prints the findings of the last review, by file and line. */
export function showFindings({ state, leaf, write, screen: { columns, style } }: ConversationContext): void {
  const found = lastFindings(state, leaf);
  if (found === undefined) return write("No review in this conversation yet. /review starts a review.");
  if (found.length === 0) return write("The last review found nothing.");
  for (const [index, { place, text }] of found.entries())
    write(wrapSentence(`${String(index + 1).padStart(3)}  ${style.bold(place)}  ${visibleLine(text)}`, columns));
  write(style.dim("/findings n has the agent fix finding n."));
}

export function showProcesses({ state, write, screen: { columns, style } }: ConversationContext): void {
  const running = runningProcesses(state);
  for (const { id, title, startedAt } of running) {
    const head = `${visibleLine(id).padEnd(4)} ${formatDuration(Math.max(0, Date.now() - startedAt)).padEnd(10)} `;
    write(`${style.dim(head)}${cutToWidth(plainLine(title), Math.max(20, columns - head.length))}`);
  }
}

export function showWaiting({ state, write, screen: { columns, style } }: ConversationContext): void {
  const width = Math.max(...state.inbox.map((input) => waitingWord(input).length));
  for (const [index, input] of state.inbox.entries()) {
    const head = `${String(index + 1).padStart(3)}  ${waitingWord(input).padEnd(width)}  `;
    write(`${style.dim(head)}${waitingText(input, Math.max(20, columns - head.length))}`);
  }
}

/** Shows the sub-agents. If the agent runs in this process, also lists the named agents. */
export async function showAgents({
  state,
  own,
  write,
  screen: { viewAgents, columns, style },
}: ConversationContext): Promise<void> {
  const all = subAgentsOf(state);
  if (all.length > 0 && viewAgents) return viewAgents();
  if (all.length === 0) write("No sub-agent was launched in this conversation.");
  write(...table(all.map((agent) => agentRow(agent, columns))));
  const named = own ? (await own.host.ready()).agents : [];
  if (named.length > 0) write("", style.dim("Agents that can be launched by name:"));
  write(...table(named.map(({ name, description }) => [plainLine(name), plainLine(description)])));
}

function agentRow({ number, name = "", task, call }: SubAgent, columns: number): string[] {
  const took = call.startedAt === undefined ? undefined : (call.endedAt ?? Date.now()) - call.startedAt;
  const status = `${callWord(call)}${took === undefined ? "" : `, ${formatDuration(took)}`}`;
  return [String(number), status, plainLine(name), excerptLine(task, Math.max(20, columns - 40))];
}
