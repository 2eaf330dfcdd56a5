import {
  type ActionContext,
  type ActionStep,
  actionNamed,
  type Action as ClientAction,
  type MessageStep,
  offeredActions,
  readAction,
  type TurnStep,
  type ViewName,
  type ViewStep,
} from "@banyan/client/actions";
import { type ConversationState, emptyConversation } from "@banyan/core/conversation";
import { visibleLine } from "@banyan/core/shown";
import { restoreDraft } from "../composer/draft.ts";
import { focusOn, pressOn } from "../parts/browser/focus-on.ts";
import { goToView } from "../parts/browser/navigation.tsx";
import { downloadExport } from "../parts/conversation/export-file.ts";
import { openRuns } from "../parts/conversation/live-conversation.ts";
import { useShow } from "../parts/conversation/use-view.ts";
import { undoableCallIds } from "../parts/diff/branch-changes.ts";
import type { PaletteAction } from "../parts/page/actions.tsx";
import { type Page, usePage, usePageState } from "../parts/page/page.ts";
import type { PanelName } from "../parts/page/panel-names.ts";
import { usePreference } from "../parts/page/preferences.ts";
import { useAllowance } from "../parts/page/use-may.ts";
import { say, t, tCount } from "../parts/phrases/phrases.ts";
import { usePanel } from "./use-panel.ts";

/** The panels that slash commands open, with the commands' names (W65). */
export const PANEL_ACTIONS: Readonly<Partial<Record<PanelName, string>>> = {
  branches: "branch",
  map: "tree",
  changes: "changes",
  compare: "compare",
  usage: "usage",
  plan: "plan",
  agents: "agents",
  context: "context",
  memory: "memory",
  hooks: "hooks",
  servers: "mcp",
  settings: "config",
};

const OF_OTHER_PARTS: ReadonlySet<string> = new Set(["help", "keys", "mode", "stop", "clear", "star"]);

type ShownView = Exclude<
  ViewName,
  "conversations" | "copy" | "help" | "keys" | "leave" | "mode" | "new" | "share" | "status" | "stop"
>;

function actionContext(tree: ConversationState | undefined, leaf: string | null, agent: string): ActionContext {
  const state = tree ?? emptyConversation("");
  const run = openRuns(state).find((open) => open.leaf === leaf)?.id;
  return { client: "page", state, leaf, run, agent, mode: "chat", say };
}

/** Returns the slash commands (W65) and palette entries of the conversation in view. */
export function useSlashActions(tree: ConversationState | undefined, leaf: string | null): readonly PaletteAction[] {
  const follow = useFollow(tree, leaf);
  const allowance = useAllowance();
  const agent = useAgent();
  if (!tree) return [];
  const context = { ...actionContext(tree, leaf, agent), ...allowance };
  const panels = Object.values(PANEL_ACTIONS);
  return offeredActions(context)
    .filter(({ name }) => !OF_OTHER_PARTS.has(name) && !panels.includes(name))
    .map((action) => ({
      // The palette has an entry for each export format.
      ...(action.name !== "export" && { name: say(action.help) }),
      slash: action.name,
      run: (argument = "") => follow(readOnPage(action, argument, context)),
    }));
}

/** Returns a function that reads an action of a panel or another part. It throws `ActionRefusal` for wrong arguments. */
export function useReading(
  tree: ConversationState | undefined,
  leaf: string | null,
): (name: string, argument: string) => unknown {
  const follow = useFollow(tree, leaf);
  const allowance = useAllowance();
  const agent = useAgent();
  return (name, argument) => {
    const action = actionNamed(name);
    return action && follow(readOnPage(action, argument, { ...actionContext(tree, leaf, agent), ...allowance }));
  };
}

function readOnPage(
  action: ClientAction,
  argument: string,
  context: ActionContext & ReturnType<typeof useAllowance>,
): ActionStep {
  const step = readAction(action, argument, context);
  const isShown = step.type === "message" || step.type === "view";
  if (!isShown && action.needs?.idle === "turn" && context.run !== undefined)
    throw new Error(
      t("The agent is working. Use /{name} when the agent is done, or after you stop it.", {
        name: action.name,
      }),
    );
  return step;
}

function useAgent(): string {
  return usePageState(({ connection }) => (connection.phase === "open" ? connection.welcome.agent : ""));
}

function useFollow(
  tree: ConversationState | undefined,
  leaf: string | null,
): (step: ActionStep | undefined) => Promise<unknown> {
  const page = usePage();
  const { connection } = page;
  const showBranch = useShow();
  const { show } = usePanel();
  const [, setSince] = usePreference("since");
  const conversation = tree?.id ?? "";
  const views: { readonly [Name in ShownView]: (view: Extract<ViewStep, { readonly view: Name }>) => unknown } = {
    agents: () => show("agents"),
    approval: ({ mode }) =>
      // Mode `all` needs the word that the user types in the settings (S27).
      mode === undefined || mode === "all" ? show("settings") : connection.ask("approval.use", { mode }),
    branches: () => show("branches"),
    changes({ since }) {
      setSince(since);
      show("changes");
    },
    compare: () => show("compare"),
    config: () => show("settings"),
    context: () => show("context"),
    export: ({ format }) => downloadExport(page, { conversation, format, ...(leaf !== null && { leaf }) }),
    findings: () => show("findings"),
    go: ({ message }) => showBranch(message, { focus: message }),
    hooks: () => show("hooks"),
    mcp: () => show("servers"),
    memory: () => show("memory"),
    model: ({ name }) => (name === "" ? pressOn("#model") : connection.ask("model.use", { model: name, conversation })),
    plan: () => show("plan"),
    processes: () => focusOn("#processes button"),
    prompt({ text, help }) {
      restoreDraft(conversation, { text, files: [] });
      return help;
    },
    title: () => pressOn("#more"),
    transcript: () => goToView({ conversation, leaf: leaf ?? undefined, whole: true }),
    tree: () => show("map"),
    undo: ({ text }) => tree && undo(page, { tree, leaf }, text),
    usage: () => show("usage"),
    waiting: () => focusOn("#waiting button"),
    worktrees: ({ worktrees }) => heldInWorktrees(worktrees),
  };
  const messageText = ({ lines, undone = [], problems = [], advice = "", goOn, beside }: MessageStep) => {
    const target = typeof goOn === "object" ? ("below" in goOn ? goOn.below : goOn.end) : leaf;
    if (target !== null && target !== leaf) showBranch(target, { focus: target });
    if (beside !== undefined) show(beside);
    return [...undoneText(undone), ...lines, ...problems, advice].filter((line) => line !== "").join("\n");
  };
  const turn = async ({ turn: what, text, at = leaf ?? undefined, ...how }: TurnStep) => {
    const where = { conversation, ...(at !== undefined && { at }), ...how };
    const parts = [{ type: "text", text: text ?? "" }] as const;
    if (what === "resume") return connection.ask("turn.resume", where);
    // The next answer below the user message is the requested one.
    if (text === undefined && at !== undefined) showBranch(at, { exactly: true, focus: at });
    const said =
      what === "say"
        ? await connection.ask("turn.say", { ...where, parts })
        : await connection.ask("turn.retry", { ...where, ...(text !== undefined && { parts }) });
    if (said.message !== undefined && said.message !== leaf) showBranch(said.message, { focus: said.message });
    return undefined;
  };
  const follow = async (step: ActionStep | undefined): Promise<unknown> => {
    switch (step?.type) {
      case undefined:
        return undefined;
      case "message":
        return messageText(step);
      case "turn":
        return turn(step);
      case "view":
        return (views[step.view as ShownView] as (view: ViewStep) => unknown)(step);
      case "command": {
        const { command, input, isHere, result } = step;
        const values = isHere ? { ...input, conversation } : input;
        return follow(result((await connection.ask(command, values as never)) as never));
      }
    }
  };
  return follow;
}

/** Undoes the changes of the given call; by default, of the last call with changes to undo. */
async function undo(
  { connection }: Page,
  { tree, leaf }: { readonly tree: ConversationState; readonly leaf: string | null },
  named: string,
): Promise<string> {
  const calls = undoableCallIds(tree, leaf).filter((call) => named === "" || call === named);
  for (const call of calls) {
    const { changes, problems } = await connection.ask("file.undo", { conversation: tree.id, leaf: leaf ?? "", call });
    // An empty result means that the call was undone before.
    if (changes.length + problems.length === 0) continue;
    return [...undoneText(changes), ...problems].join(" ");
  }
  return t("No file changes to undo on this branch.");
}

function undoneText(changes: NonNullable<MessageStep["undone"]>): string[] {
  const done = changes.map(({ path }) => visibleLine(path)).join(", ");
  return done === "" ? [] : [t("Undone: {done}.", { done })];
}

function heldInWorktrees(worktrees: Extract<ViewStep, { readonly view: "worktrees" }>["worktrees"]): string {
  const lines = worktrees.map(({ name, files, commits }) =>
    files.length + commits === 0
      ? t("{name}: no changes.", { name })
      : t("{name}: {files}, {commits}.", {
          name,
          files: tCount(files.length, "{count} changed file", "{count} changed files"),
          commits: tCount(commits, "{count} commit", "{count} commits"),
        }),
  );
  return lines.length === 0 ? t("No branch has a git worktree.") : lines.join(" ");
}
