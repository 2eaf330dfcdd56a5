import { type ConversationState, pathTo, textOf } from "@banyan/core";
import { counted } from "../show/amounts.ts";
import { excerpt, firstLines } from "../show/excerpt.ts";
import { gist, typedText } from "../show/message-label.ts";
import { plainText } from "../show/plain-text.ts";
import type { Style } from "../show/style.ts";
import { wrap } from "../show/wrap.ts";

const ANSWER_LINES = 12;

/** Where an exchange is shown. */
export interface ExchangeLook {
  readonly columns: number;
  readonly style: Style;
  /** Markdown as lines, where it is not shown as it was written. */
  prose?(markdown: string, width: number): readonly string[];
}

/** The last exchange before a message: the lines that remind a person where a conversation stands. */
export function lastExchange(
  state: ConversationState,
  leaf: string | null,
  agent: string,
  { columns, style, prose }: ExchangeLook,
): string[] {
  const path = pathTo(state, leaf);
  const asked = path.findLast((message) => message.role === "user" && message.author === "user");
  const end = path.at(-1);
  const title = excerpt(state.title ?? (path[0] ? typedText(path[0]) : ""), 60);
  const lines = [
    style.dim(
      `${title === "" ? "This conversation" : `“${title}”`}, ${counted(path.length, "message")} on this branch`,
    ),
  ];
  if (asked) lines.push(`${style.accent("you:")} ${gist(asked, Math.max(20, columns - 6))}`);
  if (end?.role !== "assistant") return lines;
  const text = plainText(textOf(end)).trim();
  const shown = prose && text !== "" ? prose(text, Math.max(1, columns - agent.length - 2)).join("\n") : text;
  const said = text === "" ? gist(end, columns) : firstLines(shown, ANSWER_LINES);
  return [...lines, ...`${style.accent(`${agent}:`)} ${said}`.split("\n").map((line) => wrap(line, columns))];
}

/** What a person said on a branch, the newest first. */
export function saidBefore(state: ConversationState, leaf: string | null): string[] {
  return pathTo(state, leaf)
    .filter((message) => message.role === "user" && message.author === "user")
    .map(typedText)
    .reverse();
}
