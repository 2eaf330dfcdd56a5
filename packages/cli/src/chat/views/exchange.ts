import { describeShortfall } from "@banyan/client/words";
import { type ConversationState, type Message, pathTo, textOf } from "@banyan/core";
import { isUserMessage, typedText } from "@banyan/core/conversation";
import { counted, planHeadline, planOnPath } from "@banyan/core/shown";
import { planStepLines } from "../../show/call-line.ts";
import { excerptLine, firstLines, wrapSentence } from "../../show/fit-text.ts";
import { gist } from "../../show/message-label.ts";
import { plainLine, plainText } from "../../show/plain-text.ts";
import type { Style } from "../../show/style.ts";
import { runEndSentence } from "../../show/turn-end.ts";

const ANSWER_LINES = 12;

export interface ExchangeLook {
  readonly columns: number;
  readonly style: Style;
  readonly most?: number;
  /** Renders Markdown as lines. Without it, Markdown is shown as plain text. */
  prose?(markdown: string, width: number): readonly string[];
}

/** Returns a line such as `“A title”, 4 messages on this branch`. */
export function titleLine(state: ConversationState, leaf: string | null): string {
  const path = pathTo(state, leaf);
  const title = excerptLine(state.title ?? (path[0] ? typedText(path[0]) : ""), 60);
  return `${title === "" ? "This conversation" : `“${title}”`}, ${counted(path.length, "message")} on this branch`;
}

/**
 * Returns the last exchange before a message as lines, to remind the user of a conversation. Includes the open steps of
 * the plan, and the reason if there is no answer. Without colours, lines contain the names of the speakers.
 */
export function lastExchange(
  state: ConversationState,
  leaf: string | null,
  agent: string,
  look: ExchangeLook,
): string[] {
  return [
    ...exchanged(state, leaf, agent, look),
    ...planLeft(state, leaf, look),
    ...brokenTurnLines(state, leaf, look),
  ];
}

/** Explains why the turn that ended at a message has no answer. Returns no lines if the turn has an answer. */
export function brokenTurnLines(
  state: ConversationState,
  leaf: string | null,
  { style, columns }: Pick<ExchangeLook, "style" | "columns">,
): readonly string[] {
  const broken = leaf === null ? undefined : state.broken.get(leaf);
  // For an interrupted turn, other lines explain how to continue.
  if (!broken || broken.reason === "interrupted") return [];
  const why = runEndSentence(broken.reason, broken.message, style, broken.code);
  return why === undefined ? [] : wrapSentence(why, columns).split("\n");
}

function planLeft(
  state: ConversationState,
  leaf: string | null,
  { columns, style }: Pick<ExchangeLook, "style" | "columns">,
): string[] {
  const plan = planOnPath(pathTo(state, leaf));
  if (!plan?.some(({ status }) => status !== "completed")) return [];
  return [style.dim(`Plan: ${planHeadline(plan)}`), ...planStepLines(plan, style, columns)];
}

function exchanged(
  state: ConversationState,
  leaf: string | null,
  agent: string,
  { columns, style, most = ANSWER_LINES, prose }: ExchangeLook,
): string[] {
  const path = pathTo(state, leaf);
  const question = path.findLast(isUserMessage);
  // Skip system messages after the exchange, which no answer follows yet.
  const end = path.findLast((message) => message.role !== "user" || message.author === "user");
  const mark = prose ? `${style.accent("❯")} ` : `${style.accent("you:")} `;
  const gistOf = (message: Message) => gist(message, Math.max(20, columns - 6));
  const lines = question ? [mark + (prose ? style.bold(gistOf(question)) : gistOf(question))] : [];
  if (end?.role !== "assistant") return lines;
  const text = plainText(textOf(end)).trim();
  const answer = text === "" ? gistOf(end) : firstLines(prose ? prose(text, columns).join("\n") : text, most);
  const shortfall = describeShortfall(end);
  const said = shortfall === undefined ? answer : `${answer}\n${style.dim(plainLine(shortfall))}`;
  if (prose) return [...lines, ...(question ? [""] : []), ...said.split("\n")];
  return [...lines, ...`${style.accent(`${agent}:`)} ${said}`.split("\n").map((line) => wrapSentence(line, columns))];
}

/** Returns the user's messages on a branch, newest first. */
export function userMessagesOn(state: ConversationState, leaf: string | null): string[] {
  return pathTo(state, leaf).filter(isUserMessage).map(typedText).reverse();
}
