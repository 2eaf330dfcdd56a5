import { type Cost, leaves, pathTo, spentOn, type Usage } from "@banyan/core";
import { formatCost, formatCount } from "../show/amounts.ts";
import { table } from "../show/table.ts";
import { ASK, type Command, type ConversationContext } from "./command.ts";

const HEAD = ["", "input", "cached", "output", "reasoning", "cost"];

export const usage: Command<ConversationContext> = {
  name: "usage",
  help: "show tokens and cost, by branch and for the whole tree",
  anytime: true,
  run({ state, leaf, write, style }) {
    const branches = leaves(state).map((id, index) => {
      const { usage, cost } = spentOn(pathTo(state, id));
      return row(`branch ${index + 1}${id === leaf ? " *" : ""}`, usage, cost);
    });
    // What every branch shares is counted once in the tree, as is what was spent on answers that broke off.
    const rows = [HEAD, ...branches, row("whole tree", state.usage, state.cost)];
    for (const [index, line] of table(rows, 1).entries()) write(index === 0 ? style.dim(line) : line);
    return ASK;
  },
};

function row(name: string, usage: Usage, cost: Cost): string[] {
  const counts = [usage.input, usage.cached, usage.output, usage.reasoning].map(formatCount);
  return [name, ...counts, formatCost(cost)];
}
