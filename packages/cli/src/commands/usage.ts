import { cacheMissCause, cacheMissSums } from "@banyan/client/words";
import { type Cost, leaves, pathTo, type Usage } from "@banyan/core";
import { usageOnPath } from "@banyan/core/conversation";
import { formatCost, formatCount } from "@banyan/core/shown";
import { contextTokens } from "../chat/views/prompt-status.ts";
import { wrapSentence } from "../show/fit-text.ts";
import { plainLine } from "../show/plain-text.ts";
import { table } from "../show/table.ts";
import type { ConversationContext } from "./command.ts";

const HEAD = ["", "input", "cached", "output", "reasoning", "cost"];

const ROOMY = 60;

/** Prints the tokens and the cost of each branch and of the whole conversation. */
export function showUsage({ state, leaf, write, screen: { columns, style } }: ConversationContext): void {
  const all = leaves(state);
  const branches = all.map((id, index) => {
    const { usage, cost } = usageOnPath(pathTo(state, id));
    return usageRow(`branch ${index + 1}${id === leaf ? " *" : ""}`, usage, cost);
  });
  // The tree counts shared messages once, and includes interrupted answers.
  const rows = [HEAD, ...branches, usageRow("whole tree", state.usage, state.cost)];
  for (const [index, line] of table(shownIn(rows, columns), 1, columns).entries())
    write(index === 0 ? style.dim(line) : line);
  if (leaf !== null && all.includes(leaf)) write(style.dim("* marks your branch."));
  const misses = cacheMissSums(state.messages.values());
  if (misses.length === 0) return;
  const counts = misses.map(({ cause, count, tokens }) => {
    return [cacheMissCause(cause), formatCount(count), formatCount(tokens)];
  });
  for (const [index, line] of table([["cache misses", "answers", "tokens"], ...counts], 1, columns).entries())
    write(index === 0 ? style.dim(line) : line);
}

/** All columns if they fit. A narrow terminal omits columns that are 0 everywhere. */
function shownIn(rows: readonly (readonly string[])[], columns: number): readonly (readonly string[])[] {
  if (columns >= ROOMY) return rows;
  const [, ...counted] = rows;
  return rows.map((cells) => cells.filter((_, column) => counted.some((others) => others[column] !== "0")));
}

function usageRow(name: string, usage: Usage, cost: Cost): string[] {
  const counts = [usage.input, usage.cached, usage.output, usage.reasoning].map(formatCount);
  return [name, ...counts, formatCost(cost)];
}

/** Prints the tokens of each part of the next model request. */
export async function showContext(context: ConversationContext): Promise<void> {
  const {
    sentHere,
    write,
    screen: { columns, style },
  } = context;
  const { parts, size } = await sentHere();
  const total = parts.reduce((sum, { tokens }) => sum + tokens, 0);
  const share = (tokens: number) => (size === undefined ? "" : `${((100 * tokens) / size).toFixed(1)} %`);
  const rows = parts.map(({ kind, source, tokens, isExact }) => [
    kind,
    plainLine(source),
    `${isExact ? "" : "~"}${formatCount(tokens)}`,
    share(tokens),
  ]);
  write(...table([...rows, ["", "all", formatCount(total), share(total)]], 2, columns));
  const of =
    size === undefined ? "The model's context size is not known." : `The model's context size is ${formatCount(size)}.`;
  const counted = contextTokens(pathTo(context.state, context.leaf));
  const last = counted === undefined ? "" : ` The last request and its answer had ${formatCount(counted)} tokens.`;
  write(style.dim(wrapSentence(`Sizes are in tokens. The sign ~ marks an estimate. ${of}${last}`, columns)));
}
