import type { ConversationState, FeedItem } from "@banyan/core";
import type { Terminal } from "../terminal/terminal.ts";
import { lastExchange, titleLine } from "./exchange.ts";
import { type Left, leftBehind } from "./left-behind.ts";

/** Writes where a conversation stands at a message: the last exchange before it. */
export function remind(terminal: Terminal, state: ConversationState, leaf: string | null, agent: string): void {
  const { columns, style, live } = terminal;
  const look = { columns, style, ...(live && { prose: live.prose.bind(live) }) };
  const apart = live ? [""] : [];
  const head = ["", style.dim(titleLine(state, leaf)), ...apart];
  for (const line of [...head, ...lastExchange(state, leaf, agent, look)]) terminal.write(`${line}\n`);
}

/** The same for a conversation that was just opened, with what was left behind in it. */
export function remindOpened(terminal: Terminal, session: Left, leaf: string | null, agent: string): void {
  remind(terminal, session.state, leaf, agent);
  for (const line of leftBehind(session, terminal.columns, terminal.style)) terminal.write(`${line}\n`);
}

/** Whether an item tells that a run ended which a process before left behind: that was said when the conversation was opened. */
export function isReminded({ interrupted }: Pick<Left, "interrupted">, item: FeedItem): boolean {
  return item.type === "run.ended" && interrupted.some(({ id }) => id === item.run);
}
