import type { ViewName, ViewStep } from "@banyan/client/actions";
import { plainLine } from "../show/plain-text.ts";
import { worktreeLines } from "../show/worktree-lines.ts";
import { showBranches, showComparison } from "./branches.ts";
import { showChanges, undoChanges } from "./changes.ts";
import { type AfterCommand, ASK, type ConversationContext, type OwnContext } from "./command.ts";
import { showConfig } from "./config.ts";
import { copyAnswer, writeExport } from "./copy-and-export.ts";
import { showHooks, showServers } from "./equipment.ts";
import { showHelp, showKeys } from "./help.ts";
import { showAgents, showFindings, showPlan, showProcesses, showWaiting } from "./lists.ts";
import { showMemory } from "./memory.ts";
import { useModelNamed } from "./model.ts";
import { beginConversation, useApproval, useMode } from "./settings.ts";
import { shareConversation } from "./share.ts";
import { showStatus } from "./status.ts";
import { goTo, showTranscript, showTree } from "./tree.ts";
import { showContext, showUsage } from "./usage.ts";

type Show<Name extends ViewName> = (
  context: ConversationContext,
  view: Extract<ViewStep, { readonly view: Name }>,
) => AfterCommand | void | Promise<void>;

/** Functions that show a view. Only the page has `stop`: a terminal has a key for it. */
const VIEWS: { readonly [Name in Exclude<ViewName, "stop">]: Show<Name> } = {
  agents: showAgents,
  approval: (context, { mode }) => useApproval(context, mode),
  branches: (context, { leaves }) => showBranches(context, leaves),
  changes: showChanges,
  compare: (context, { branches }) => showComparison(context, branches),
  config: (context, { text }) => showConfig(context, text),
  context: showContext,
  conversations: (context, { text }) => requireOwnContext(context).enter(text === "" ? undefined : text),
  copy: (context, { text }) => copyAnswer(context, text),
  export: (context, view) => writeExport(context, view),
  findings: showFindings,
  go: (context, { message }) => goTo(context, message),
  help: showHelp,
  hooks: (context) => showHooks(context, requireOwnContext(context)),
  keys: showKeys,
  leave: () => ({ type: "leave" }),
  mcp: (context) => showServers(context, requireOwnContext(context)),
  memory: (context, { text }) => showMemory(context, text),
  mode: (context, { mode }) => useMode(context, mode),
  model: (context, { name }) => useModelNamed(context, name),
  new: (context) => beginConversation(context, requireOwnContext(context)),
  plan: showPlan,
  processes: showProcesses,
  prompt(context, { text, help }) {
    context.screen.typeIn?.(text);
    context.write(context.screen.typeIn ? help : text);
  },
  share: (context, { share }) => shareConversation(context, share),
  status: showStatus,
  title: ({ state, write }) => write(plainLine(state.title ?? "This conversation has no title.")),
  transcript: showTranscript,
  tree: showTree,
  undo: (context, { text }) => undoChanges(context, text),
  usage: showUsage,
  waiting: showWaiting,
  worktrees: ({ state, screen: { style }, write }, { worktrees }) =>
    write(...worktreeLines(worktrees, { style, conversation: state.id })),
};

/** Shows the view that a slash command opens. Rejects with errors that `reportedProblem` describes. */
export async function showView(view: ViewStep, context: ConversationContext): Promise<AfterCommand> {
  if (view.view === "stop") throw new Error("To stop the agent in a terminal, press Esc or Ctrl-C.");
  // Each entry of the table accepts views of its own name.
  const show = VIEWS[view.view] as Show<ViewName>;
  return (await show(context, view)) ?? ASK;
}

function requireOwnContext({ own }: ConversationContext): OwnContext {
  if (!own) throw new Error("This view works only in the terminal in which the agent runs.");
  return own;
}
