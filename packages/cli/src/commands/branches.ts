import { formatDuration } from "@banyan/client/words";
import { leaves, newestLeaf, pathTo } from "@banyan/core";
import { isUserMessage, worktreeAt } from "@banyan/core/conversation";
import { counted, formatCost, visibleLine } from "@banyan/core/shown";
import type { Result } from "@banyan/protocol";
import { excerptLine, wrapSentence } from "../show/fit-text.ts";
import { gist } from "../show/message-label.ts";
import { plainLine } from "../show/plain-text.ts";
import { table } from "../show/table.ts";
import type { ConversationContext } from "./command.ts";

/** Lists branches by their leaves, with numbers. */
export function showBranches(
  { state, leaf, write, screen: { columns, style } }: ConversationContext,
  some: readonly string[],
): void {
  const all = leaves(state);
  for (const id of some) {
    const path = pathTo(state, id);
    const question = path.findLast(isUserMessage);
    const end = path.at(-1);
    const head = `${id === leaf ? "*" : " "} ${String(all.indexOf(id) + 1).padStart(2)}  `;
    const room = Math.max(20, columns - head.length - 4);
    if (question) write(`${head}${style.bold(gist(question, room))}`);
    if (end && end !== question) write(`      ${gist(end, room)}`);
    const worktree = worktreeAt(state, id);
    const where = worktree === undefined ? "" : `, in the worktree ${visibleLine(worktree)}`;
    write(style.dim(`      ${counted(path.length, "message")}${where}`));
  }
  write(style.dim("/branch n switches to branch n."));
}

type ComparedBranches = Result<"branch.compare">["branches"];

const OUTCOMES: Readonly<Record<ComparedBranches[number]["outcome"], string>> = {
  answered: "answered",
  finished: "finished",
  limit: "at a limit",
  failed: "failed",
  interrupted: "interrupted",
  working: "works",
  waiting: "waits for you",
  unasked: "nothing asked",
};

/** Compares branches: outcome, time, cost and files. */
export function showComparison(
  { state, leaf, write, screen: { columns, style } }: ConversationContext,
  branches: ComparedBranches,
): void {
  const all = leaves(state);
  const rows = branches.map(({ first, name, outcome, time, cost, files }) => {
    // A running branch has grown since the comparison: number it by its present leaf, as /branch does.
    const end = newestLeaf(state, first);
    return [
      `${end === leaf ? "*" : " "} ${all.indexOf(end) + 1}`,
      visibleLine(name),
      OUTCOMES[outcome],
      time === undefined ? "" : formatDuration(time),
      formatCost(cost),
      amountsOf(files),
    ];
  });
  for (const [index, line] of table(rows, 6, columns).entries()) {
    const { problem, said, worktree, models } = branches[index] ?? { problem: undefined, said: "", models: [] };
    write(line);
    const where = worktree === undefined ? [] : [`worktree ${visibleLine(worktree)}`];
    write(style.dim(`      ${[...models.map((model) => visibleLine(model)), ...where].join(", ")}`));
    if (problem !== undefined) write(`      ${style.bad(plainLine(problem))}`);
    if (said !== "") write(`      ${excerptLine(visibleLine(said), Math.max(20, columns - 6))}`);
  }
  write(
    style.dim(
      wrapSentence("/branch n continues with a branch, /bring n brings its results to where you are.", columns),
    ),
  );
}

/** Such as `3 files +20 -4`. */
function amountsOf(files: readonly { readonly added: number; readonly removed: number }[]): string {
  if (files.length === 0) return "no file";
  const sum = (of: "added" | "removed") => files.reduce((total, file) => total + file[of], 0);
  return `${counted(files.length, "file")} +${sum("added")} -${sum("removed")}`;
}
