import { type Cost, leaves, pathTo, type Usage } from "@banyan/core";
import { spentOn } from "@banyan/core/conversation";
import { formatCost, formatCount } from "@banyan/core/shown";
import { table } from "../show/table.ts";
import { ASK, type Command, type ConversationContext } from "./command.ts";

const HEAD = ["", "input", "cached", "output", "reasoning", "cost"];

/** Columns of a terminal in which all of it has room. */
const ROOMY = 60;

export const usage: Command<ConversationContext> = {
  name: "usage",
  help: "show tokens and cost, by branch and for the whole tree",
  anytime: true,
  run({ state, leaf, columns, write, style }) {
    const all = leaves(state);
    const branches = all.map((id, index) => {
      const { usage, cost } = spentOn(pathTo(state, id));
      return row(`branch ${index + 1}${id === leaf ? " *" : ""}`, usage, cost);
    });
    // What every branch shares is counted once in the tree, as is what was spent on answers that broke off.
    const rows = [HEAD, ...branches, row("whole tree", state.usage, state.cost)];
    for (const [index, line] of table(shownIn(rows, columns), 1, columns).entries())
      write(index === 0 ? style.dim(line) : line);
    if (leaf !== null && all.includes(leaf)) write(style.dim("* is the branch that you are on."));
    return ASK;
  },
};

/** Rows where they fit; in few columns without what is 0 everywhere. */
function shownIn(rows: readonly (readonly string[])[], columns: number): readonly (readonly string[])[] {
  if (columns >= ROOMY) return rows;
  const [, ...counted] = rows;
  return rows.map((cells) => cells.filter((_, column) => counted.some((others) => others[column] !== "0")));
}

function row(name: string, usage: Usage, cost: Cost): string[] {
  const counts = [usage.input, usage.cached, usage.output, usage.reasoning].map(formatCount);
  return [name, ...counts, formatCost(cost)];
}
