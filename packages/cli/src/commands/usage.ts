import { type Cost, leaves, pathTo, spentOn, type Usage } from "@banyan/core";
import { formatCost, formatCount } from "../show/amounts.ts";
import { ASK, type Command } from "./command.ts";

const HEAD = ["", "input", "cached", "output", "reasoning", "cost"];

export const usage: Command = {
  name: "usage",
  help: "show tokens and cost, by branch and for the whole tree",
  run({ state, leaf, write, style }) {
    const branches = leaves(state).map((id, index) => {
      const { usage, cost } = spentOn(pathTo(state, id));
      return row(`branch ${index + 1}${id === leaf ? " *" : ""}`, usage, cost);
    });
    // What every branch shares is counted once in the tree, as is what was spent on answers that broke off.
    const rows = [HEAD, ...branches, row("whole tree", state.usage, state.cost)];
    const widths = HEAD.map((_, column) => Math.max(...rows.map((cells) => (cells[column] ?? "").length)));
    for (const [index, cells] of rows.entries()) {
      const line = cells
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join("   ");
      write(index === 0 ? style.dim(line) : line);
    }
    return ASK;
  },
};

function row(name: string, usage: Usage, cost: Cost): string[] {
  const counts = [usage.input, usage.cached, usage.output, usage.reasoning].map(formatCount);
  return [name, ...counts, formatCost(cost)];
}
