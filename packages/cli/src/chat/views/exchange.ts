import { type ConversationState, type Message, pathTo, textOf } from "@banyan/core";
import { isPersons, toldShortfall, typedText } from "@banyan/core/conversation";
import { counted, planHeadline, planOn } from "@banyan/core/shown";
import { stepLines } from "../../show/call-line.ts";
import { excerpt, firstLines, wrap } from "../../show/fit-text.ts";
import { gist } from "../../show/message-label.ts";
import { oneLine, plainText } from "../../show/plain-text.ts";
import type { Style } from "../../show/style.ts";
import { runEndSentence } from "../../show/turn-end.ts";

/** Lines of an answer that are shown when nobody says. */
const ANSWER_LINES = 12;

/** Where an exchange is shown. */
export interface ExchangeLook {
  readonly columns: number;
  readonly style: Style;
  /** Lines of the answer at most. */
  readonly most?: number;
  /** Markdown as lines, where it is not shown as it was written. */
  prose?(markdown: string, width: number): readonly string[];
}

/** `“A title”, 4 messages on this branch`: what a conversation is, and how much of it there is. */
export function titleLine(state: ConversationState, leaf: string | null): string {
  const path = pathTo(state, leaf);
  const title = excerpt(state.title ?? (path[0] ? typedText(path[0]) : ""), 60);
  return `${title === "" ? "This conversation" : `“${title}”`}, ${counted(path.length, "message")} on this branch`;
}

/**
 * The last exchange before a message: the lines that remind a person where a conversation stands. As it stood in the
 * transcript where Markdown is drawn, else with the names of who said it; below it what is left of
 * the plan, and why the turn came to no answer.
 */
export function lastExchange(
  state: ConversationState,
  leaf: string | null,
  agent: string,
  look: ExchangeLook,
): string[] {
  return [...exchanged(state, leaf, agent, look), ...planLeft(state, leaf, look), ...brokenLines(state, leaf, look)];
}

/** Why the turn that ended at a message came to no answer; nothing where it did. */
export function brokenLines(
  state: ConversationState,
  leaf: string | null,
  { style, columns }: Pick<ExchangeLook, "style" | "columns">,
): readonly string[] {
  const broken = leaf === null ? undefined : state.broken.get(leaf);
  // Of what was interrupted, whoever opens the conversation is told how to go on.
  if (!broken || broken.reason === "interrupted") return [];
  const why = runEndSentence(broken.reason, broken.message, style, broken.code);
  return why === undefined ? [] : wrap(why, columns).split("\n");
}

/** The plan on the branch, as long as something of it is left to do. */
function planLeft(
  state: ConversationState,
  leaf: string | null,
  { columns, style }: Pick<ExchangeLook, "style" | "columns">,
): string[] {
  const plan = planOn(pathTo(state, leaf));
  if (!plan?.some(({ status }) => status !== "completed")) return [];
  return [style.dim(`Plan: ${planHeadline(plan)}`), ...stepLines(plan, style, columns)];
}

function exchanged(
  state: ConversationState,
  leaf: string | null,
  agent: string,
  { columns, style, most = ANSWER_LINES, prose }: ExchangeLook,
): string[] {
  const path = pathTo(state, leaf);
  const asked = path.findLast(isPersons);
  // What the agent was told since, in the person's stead, nobody has answered yet.
  const end = path.findLast((message) => message.role !== "user" || message.author === "user");
  const mark = prose ? `${style.accent("❯")} ` : `${style.accent("you:")} `;
  const gistOf = (message: Message) => gist(message, Math.max(20, columns - 6));
  const lines = asked ? [mark + (prose ? style.bold(gistOf(asked)) : gistOf(asked))] : [];
  if (end?.role !== "assistant") return lines;
  const text = plainText(textOf(end)).trim();
  const answer = text === "" ? gistOf(end) : firstLines(prose ? prose(text, columns).join("\n") : text, most);
  const shortfall = toldShortfall(end);
  const said = shortfall === undefined ? answer : `${answer}\n${style.dim(oneLine(shortfall))}`;
  if (prose) return [...lines, ...(asked ? [""] : []), ...said.split("\n")];
  return [...lines, ...`${style.accent(`${agent}:`)} ${said}`.split("\n").map((line) => wrap(line, columns))];
}

/** What a person said on a branch, the newest first. */
export function saidBefore(state: ConversationState, leaf: string | null): string[] {
  return pathTo(state, leaf).filter(isPersons).map(typedText).reverse();
}
