import { leaves, newestLeaf, pathTo, worktreeAt } from "@banyan/core/conversation";
import { visibleLine } from "@banyan/core/shown";
import { BRANCHES_AT_ONCE } from "@banyan/protocol/values";
import {
  type Action,
  type ActionContext,
  ActionRefusal,
  conversationCommand,
  message,
  serverCommand,
  type ViewStep,
  view,
} from "./action.ts";
import { branchesNamed, messageNumbers, quoteForUser, readBranch, readNamedMessage } from "./named-targets.ts";

export const branchActions: readonly Action[] = [
  {
    name: "tree",
    aliases: ["rewind"],
    arguments: "[#n]",
    help: "Show the tree of this conversation, or continue from message #n",
    needs: { right: "turn.say" },
    read(argument, context) {
      if (argument === "")
        return context.state.messages.size === 0 ? message(context.say("There are no messages yet.")) : view("tree");
      const { message: named, rest } = readNamedMessage(context, argument);
      if (rest !== "")
        throw new ActionRefusal(context.say("Give the number of one message, as in /{name} #1.", { name: "tree" }));
      return { type: "view", view: "go", message: named.id };
    },
  },
  {
    name: "branch",
    aliases: ["fork"],
    arguments: "[n | #n | text]",
    help: "List the branches, switch to a branch, or continue from message #n",
    needs: { right: "turn.say", idle: "prompt" },
    read(argument, context) {
      const { state, say } = context;
      const all = leaves(state);
      if (all.length === 0) return message(say("There are no messages yet."));
      if (argument === "") return { type: "view", view: "branches", leaves: all };
      const found = branchesNamed(context, argument);
      const [only] = found;
      if (only === undefined)
        throw new ActionRefusal(
          say("There is no branch or message {name}. /branch lists the branches, /tree the messages.", {
            name: quoteForUser(argument),
          }),
        );
      return found.length === 1
        ? { type: "view", view: "go", message: only }
        : { type: "view", view: "branches", leaves: found };
    },
  },
  {
    name: "fan",
    arguments: "[times | models] text",
    help: "Ask several models, or one model several times; each answer is a branch",
    needs: { right: "branch.fan", idle: "prompt" },
    read(argument, { leaf, say }) {
      const { text, ...how } = readFan(argument, say);
      const input = { at: leaf, parts: [{ type: "text", text }] as const, ...how };
      return conversationCommand("branch.fan", input, ({ at = leaf, branches, problems }) => ({
        ...message(
          say.count(branches.length, "Asked {count} branch:", "Asked {count} branches:"),
          ...branches.map(({ model, worktree }) => {
            const named = { model: visibleLine(model), worktree: visibleLine(worktree ?? "") };
            return `  ${worktree === undefined ? named.model : say("{model} in the worktree {worktree}", named)}`;
          }),
        ),
        problems,
        advice: say("/compare shows how the branches are doing, /waiting what they ask."),
        beside: "compare",
        // The user stays on the branch from which the others were asked.
        ...(at !== null && { goOn: { below: at } }),
      }));
    },
  },
  {
    name: "compare",
    arguments: "[n | #n | text]",
    help: "Compare the branches that fork here: outcome, time, cost and files",
    needs: { right: "branch.compare" },
    read(argument, context) {
      const at = argument === "" ? context.leaf : readBranch(context, argument);
      return conversationCommand("branch.compare", { ...(at !== null && { at }) }, ({ branches }): ViewStep => {
        return { type: "view", view: "compare", branches };
      });
    },
  },
  {
    name: "bring",
    arguments: "n | #n | text",
    help: "Bring the answer and files of another branch to this branch",
    onPage: "Type /compare to open the Compare panel, and press “Bring changes over” at a branch.",
    needs: { right: "branch.bring", idle: "prompt" },
    read(argument, context) {
      const { leaf, say } = context;
      if (argument === "")
        throw new ActionRefusal(
          say("Give the number of a branch, as in /bring 2. /compare and /branch show the numbers."),
        );
      if (leaf === null) throw new ActionRefusal(say("There are no messages yet."));
      const from = readBranch(context, argument);
      refuseOwnBranch(context, from, argument);
      return conversationCommand("branch.bring", { from, to: leaf }, ({ message: brought, files, problems }) => ({
        // A turn that begins with files shows the result of each file.
        ...message(
          ...(files === 0
            ? [say("Only the answer was brought over: the branches share their files, or no file was changed.")]
            : []),
        ),
        problems,
        goOn: { below: brought },
      }));
    },
  },
  {
    name: "worktree",
    arguments: "[name]",
    help: "Begin a branch with its own files, in a git worktree",
    needs: { right: "worktree.open", idle: "prompt" },
    read(name, { leaf, say }) {
      if (name.length > 80) throw new ActionRefusal(say("The name of a worktree has at most 80 characters."));
      return conversationCommand(
        "worktree.open",
        { at: leaf, ...(name !== "" && { name }) },
        ({ message: begun, worktree }) => ({
          ...message(say("Your next message works in the worktree {worktree}.", { worktree: visibleLine(worktree) })),
          advice: say(
            "/bring on another branch copies the changes of this branch there. /worktrees lists the worktrees.",
          ),
          goOn: { below: begun },
        }),
      );
    },
  },
  {
    name: "worktrees",
    arguments: "[remove name [with changes]]",
    help: "List the git worktrees of branches, or remove a worktree",
    needs: { right: "worktree.list", idle: "prompt" },
    read(argument, { say }) {
      if (argument === "")
        return serverCommand("worktree.list", {}, ({ worktrees }) => ({ type: "view", view: "worktrees", worktrees }));
      const [, name, anyway] = /^remove\s+(\S+)(\s+with changes)?$/.exec(argument) ?? [];
      if (name === undefined)
        throw new ActionRefusal(
          say("Write /worktrees remove and the name of a worktree. Add “with changes” to delete its changes too."),
        );
      return serverCommand("worktree.remove", { name, changes: anyway !== undefined }, () =>
        message(say("Removed the worktree {name}.", { name: quoteForUser(name) })),
      );
    },
  },
];

/** Reads a number or models, and the question: `3 Find the bug`, `opus,gpt-5 Find the bug`. */
function readFan(argument: string, say: ActionContext["say"]) {
  const [, first = "", rest = ""] = /^(\S+)\s*(.*)$/s.exec(argument) ?? [];
  const models = /^[\w.:@-]+([,/][\w.:@-]+)+$/.test(first) ? first.split(",") : undefined;
  const times = /^\d+$/.test(first) ? Number(first) : undefined;
  const text = models || times !== undefined ? rest : argument;
  if (text.trim() === "")
    throw new ActionRefusal(
      say("Write your question after the number or the models: /fan 3 Find the bug, or /fan opus,gpt-5 Find the bug."),
    );
  // A large number may be the beginning of the question, so the user must clarify.
  if ((times !== undefined && (times < 1 || times > BRANCHES_AT_ONCE)) || (models?.length ?? 0) > BRANCHES_AT_ONCE)
    throw new ActionRefusal(
      say("/fan asks 1 to {most} times at once. If the question begins with a number, write /fan 3 before it.", {
        most: BRANCHES_AT_ONCE,
      }),
    );
  return { text, ...(times !== undefined && { times }), ...(models && { models }) };
}

function refuseOwnBranch({ state, leaf, say }: ActionContext, from: string, argument: string): void {
  const path = pathTo(state, leaf);
  const own = newestLeaf(state, from);
  if (!path.some(({ id }) => id === own)) return;
  const worktree = worktreeAt(state, leaf ?? undefined);
  const begun = path.findLast((each) => each.role === "user" && each.worktree !== undefined);
  const number = messageNumbers(state).get(begun?.parentId ?? "");
  if (worktree === undefined || number === undefined) {
    const branch = String(leaves(state).indexOf(own) + 1);
    throw new ActionRefusal(
      say(
        "You are on branch {branch}. To bring its changes elsewhere, switch to another branch and write /bring {branch}.",
        { branch },
      ),
    );
  }
  throw new ActionRefusal(
    say(
      "You are on the branch of the worktree {worktree}. Go back to the start of this branch with /tree {number}, then bring the changes over with /bring {name}.",
      { worktree: visibleLine(worktree), number: `#${number}`, name: quoteForUser(argument) },
    ),
  );
}
