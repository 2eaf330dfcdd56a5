import { leaves, newestLeaf, pathTo } from "@banyan/core";
import { worktreeAt } from "@banyan/core/conversation";
import { counted, formatCost, formatDuration, visibleLine } from "@banyan/core/shown";
import type { Result } from "@banyan/protocol";
import { excerpt, wrap } from "../show/fit-text.ts";
import { messageNumbers } from "../show/message-label.ts";
import { oneLine } from "../show/plain-text.ts";
import { table } from "../show/table.ts";
import { worktreeLines } from "../show/worktree-lines.ts";
import { branchesNamed } from "./branch.ts";
import { ASK, type Command, type ConversationContext } from "./command.ts";

/** How a branch stands, in words. */
const OUTCOMES: Readonly<Record<Result<"branch.compare">["branches"][number]["outcome"], string>> = {
  answered: "answered",
  finished: "finished",
  limit: "at a limit",
  failed: "failed",
  interrupted: "interrupted",
  working: "works",
  waiting: "waits for you",
  unasked: "nothing asked",
};

export const fan: Command<ConversationContext> = {
  name: "fan",
  takes: "[times | models] text",
  help: "ask the same of several models at once, or several times, each on a branch with files of its own",
  async run({ beside, leaf, standAt, style, write }, argument) {
    const [, first = "", rest = ""] = /^(\S+)\s+(.+)$/s.exec(argument) ?? [];
    const how = howOften(first);
    const text = how ? rest : argument;
    if (text.trim() === "") {
      write(
        "Say what is to be asked: /fan 3 Find the bug, or /fan anthropic/claude-opus-4-5,openai/gpt-5 Find the bug.",
      );
      return ASK;
    }
    const { branches, problems } = await (await beside()).fan({ at: leaf, text, ...how });
    // What is said next goes where it went before, and not to the branch that was written to last.
    if (leaf !== null) standAt(leaf);
    for (const problem of problems) write(`${style.warning("Note:")} ${oneLine(problem)}`);
    write(`Asked ${counted(branches.length, "branch", "branches")}:`);
    for (const { model, worktree } of branches)
      write(
        `  ${visibleLine(model)}${worktree === undefined ? "" : style.dim(` in the worktree ${visibleLine(worktree)}`)}`,
      );
    write(style.dim("/compare shows how they stand, /waiting what they ask."));
    return ASK;
  },
};

/** `3`, or `opus,gpt-5`, or `openai/gpt-5`; nothing for a word of what is said. */
function howOften(word: string): { readonly times: number } | { readonly models: readonly string[] } | undefined {
  if (/^\d+$/.test(word)) return { times: Number(word) };
  return /^[\w.:@-]+([,/][\w.:@-]+)+$/.test(word) ? { models: word.split(",") } : undefined;
}

export const compare: Command<ConversationContext> = {
  name: "compare",
  takes: "[n | #n | text]",
  help: "show the branches that part here side by side: outcome, time, cost and files",
  anytime: true,
  async run(context, argument) {
    const { state, leaf, columns, style, write, beside } = context;
    const at = argument === "" ? leaf : only(context, argument);
    if (at === undefined) return ASK;
    const { branches } = await (await beside()).compare(at);
    const all = leaves(state);
    const rows = branches.map(({ first, name, outcome, time, cost, files }) => {
      // One that works has grown since it was compared: it is numbered by where it ends now, as /branch does.
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
      if (problem !== undefined) write(`      ${style.bad(oneLine(problem))}`);
      if (said !== "") write(`      ${excerpt(visibleLine(said), Math.max(20, columns - 6))}`);
    }
    write(style.dim(wrap("/branch n goes on with one of them, /bring n takes it over to where you are.", columns)));
    return ASK;
  },
};

/** `3 files +20 -4`. */
function amountsOf(files: readonly { readonly added: number; readonly removed: number }[]): string {
  if (files.length === 0) return "no file";
  const sum = (of: "added" | "removed") => files.reduce((total, file) => total + file[of], 0);
  return `${counted(files.length, "file")} +${sum("added")} -${sum("removed")}`;
}

export const bring: Command<ConversationContext> = {
  name: "bring",
  takes: "n | #n | text",
  help: "take what another branch came to over to this one: what it said, and its changes of files, which you are asked about",
  async run(context, argument) {
    const { leaf, style, write, beside, standAt } = context;
    const from = argument === "" ? undefined : only(context, argument);
    if (argument === "") write("Which one? /compare and /branch number the branches: /bring 2.");
    if (from === undefined || from === null || leaf === null) return ASK;
    const advice = whereWorktreeBegan(context, from);
    if (advice !== undefined) {
      write(`${advice} Then take it over with /bring ${oneLine(argument)}.`);
      return ASK;
    }
    const { message, files, problems } = await (await beside()).bring({ from, to: leaf });
    for (const problem of problems) write(`${style.warning("Note:")} ${oneLine(problem)}`);
    standAt(message);
    // Where files come along, a turn has begun, which shows what came of them.
    if (files === 0)
      write("Brought over. No file comes along: both branches work in the same files, or nothing was changed there.");
    return ASK;
  },
};

/** Says where to go for a user who would bring the branch of a worktree over to itself; nothing for another branch. */
function whereWorktreeBegan({ state, leaf }: ConversationContext, from: string): string | undefined {
  const path = pathTo(state, leaf);
  const worktree = worktreeAt(state, leaf ?? undefined);
  if (worktree === undefined || !path.some(({ id }) => id === newestLeaf(state, from))) return undefined;
  const begun = path.findLast((message) => message.role === "user" && message.worktree !== undefined);
  const number = messageNumbers(state).get(begun?.parentId ?? "");
  if (number === undefined) return undefined;
  return `You are on the branch of the worktree ${visibleLine(worktree)}. Go back to where it began with /tree #${number}.`;
}

/** The one branch or message that is meant; nothing, and that is said, where there is none or more than one. */
function only(context: ConversationContext, argument: string): string | undefined {
  const found = branchesNamed(context, leaves(context.state), argument);
  if (found.length === 1) return found[0];
  const which = `${excerpt(argument, 60)} names ${found.length === 0 ? "no branch" : "several branches"}`;
  context.write(`${which}. /branch lists them with their numbers.`);
  return undefined;
}

export const worktree: Command<ConversationContext> = {
  name: "worktree",
  takes: "[name]",
  help: "begin a branch here with files of its own, in a git worktree",
  async run({ leaf, beside, standAt, style, write }, argument) {
    const { message, worktree } = await (await beside()).openWorktree({
      at: leaf,
      ...(argument !== "" && { name: argument }),
    });
    standAt(message);
    write(`What you say next works in the worktree ${style.bold(visibleLine(worktree))}.`);
    write(style.dim("/bring on another branch takes what is done here over, /worktrees lists them."));
    return ASK;
  },
};

export const worktrees: Command<ConversationContext> = {
  name: "worktrees",
  takes: "[remove name [with changes]]",
  help: "list the git worktrees of branches and what each holds, or remove one",
  async run({ beside, style, write, state }, argument) {
    const [, name, anyway] = /^remove\s+(\S+)(\s+with changes)?$/.exec(argument) ?? [];
    if (argument !== "" && name === undefined) {
      write("/worktrees lists them; /worktrees remove NAME removes one, and NAME with changes also what it holds.");
      return ASK;
    }
    const here = await beside();
    if (name === undefined) {
      write(...worktreeLines(await here.listWorktrees(), { style, conversation: state.id }));
      return ASK;
    }
    await here.removeWorktree(name, anyway !== undefined);
    write(`The worktree ${visibleLine(name)} is removed.`);
    return ASK;
  },
};
