import {
  type ConversationState,
  instructionsRequest,
  lastFindings,
  pathTo,
  REVIEWER,
  reviewRequest,
} from "@banyan/core/conversation";
import { compactedLine } from "@banyan/core/shown";
import { openRuns } from "../conversation/live-conversation.ts";
import { useShow } from "../conversation/use-view.ts";
import { changesOf, withSubAgents } from "../diff/branch-changes.ts";
import { usePage } from "../page.ts";
import { useMending } from "../panels/use-mending.ts";
import { usePanel } from "../panels/use-panel.ts";
import { say as inWords, t, tCount } from "../phrases/phrases.ts";
import { focusOn, pressOn } from "../shell/focus-on.ts";
import { go } from "../shell/navigation.tsx";
import { useRetry } from "../transcript/retry-answer.tsx";
import type { Action } from "./actions.tsx";

/** How often, or which models, and what is asked: `3 Find the bug`, `opus,gpt-5 Find the bug`. */
function fanned(argument: string) {
  const [, first = "", rest = ""] = /^(\S+)\s+(.+)$/s.exec(argument) ?? [];
  if (/^[1-8]$/.test(first)) return { times: { times: Number(first) }, models: {}, text: rest };
  const isModels = /^[\w.:@-]+([,/][\w.:@-]+)+$/.test(first);
  return isModels
    ? { times: {}, models: { models: first.split(",") }, text: rest }
    : { times: {}, models: {}, text: argument.trim() };
}

/** What is done to the branch in view, or from its end, and has a name to be written (W65); `tree` as it is now. */
export function useSlashActions(tree: ConversationState | undefined, leaf: string | null): readonly Action[] {
  const { connection } = usePage();
  const showBranch = useShow();
  const { show } = usePanel();
  const retry = useRetry();
  const mend = useMending();
  if (!tree) return [];
  const conversation = tree.id;
  const path = pathTo(tree, leaf);
  const at = leaf === null ? {} : { at: leaf };
  const isIdle = !openRuns(tree).some((run) => run.leaf === leaf);
  const always: readonly Action[] = [
    {
      name: t("Choose the model"),
      slash: "model",
      takes: "model.use",
      run: (model = "") => (model === "" ? pressOn("#model") : connection.ask("model.use", { model, conversation })),
    },
    {
      name: t("What runs without asking"),
      slash: "approval",
      takes: "approval.use",
      run: (mode = "") => {
        if (mode === "plan" || mode === "ask" || mode === "edits") return connection.ask("approval.use", { mode });
        // To have everything run takes a word that is written there (S27).
        show("settings");
        return undefined;
      },
    },
    {
      name: t("Ask the same three times at once"),
      slash: "fan",
      takes: "branch.fan",
      async run(argument = "") {
        const { times, models, text } = fanned(argument);
        if (text === "") return t("Write what is to be asked behind it: /fan 3 Find the bug.");
        const wanted = { conversation, parts: [{ type: "text", text }] as const, ...(leaf !== null && { at: leaf }) };
        const { problems } = await connection.ask("branch.fan", { ...wanted, ...times, ...models });
        show("compare");
        return problems.join(" ") || undefined;
      },
    },
    {
      name: t("Begin a branch with files of its own"),
      slash: "worktree",
      takes: "worktree.open",
      async run(name = "") {
        const wanted = { conversation, ...(leaf !== null && { at: leaf }), ...(name !== "" && { name }) };
        const { message, worktree } = await connection.ask("worktree.open", wanted);
        showBranch(message);
        return t("What you say next here works in the git worktree {worktree}.", { worktree });
      },
    },
    {
      name: t("What the git worktrees of branches hold"),
      slash: "worktrees",
      takes: "worktree.list",
      async run(argument = "") {
        const [, name, anyway] = /^remove\s+(\S+)(\s+with changes)?$/.exec(argument) ?? [];
        if (name !== undefined) {
          await connection.ask("worktree.remove", { name, ...(anyway && { changes: true }) });
          return t("The worktree {name} is removed.", { name });
        }
        const { worktrees } = await connection.ask("worktree.list", {});
        const lines = worktrees.map(({ name: each, files, commits }) =>
          files.length + commits === 0
            ? t("{name} holds nothing.", { name: each })
            : t("{name} holds {files} and {commits}.", {
                name: each,
                files: tCount(files.length, "{count} changed file", "{count} changed files"),
                commits: tCount(commits, "{count} commit", "{count} commits"),
              }),
        );
        return lines.length === 0 ? t("No branch has a git worktree of its own.") : lines.join(" ");
      },
    },
    {
      name: t("Give the conversation a title"),
      slash: "title",
      takes: "conversation.rename",
      run: (title = "") =>
        title === "" ? pressOn("#more") : connection.ask("conversation.rename", { conversation, title }),
    },
    {
      name: t("All messages at once"),
      slash: "transcript",
      run: () => go({ conversation, leaf: leaf ?? undefined, whole: true }),
    },
    {
      name: t("Name the end of this branch"),
      slash: "label",
      takes: "message.label",
      run: (label = "") =>
        leaf === null
          ? t("Nothing has been said yet.")
          : connection.ask("message.label", { conversation, message: leaf, label: label === "" ? null : label }),
    },
    {
      name: t("Bring back what was removed last"),
      slash: "restore",
      takes: "message.restore",
      async run() {
        const removed = [...tree.messages.values()].findLast((message) => message.removed);
        if (!removed) return t("Nothing was removed.");
        await connection.ask("message.restore", { conversation, message: removed.id });
        showBranch(removed.id, { focus: removed.id });
        return undefined;
      },
    },
    {
      name: t("Take back the last change of files"),
      slash: "undo",
      takes: "file.undo",
      async run() {
        const calls = changesOf(withSubAgents(tree, path)).map(({ call }) => call);
        // Of a call that was taken back already, nothing is done anew: then it is the turn of the one before.
        for (const call of new Set(calls.toReversed())) {
          const { changes, problems } = await connection.ask("file.undo", { conversation, leaf: leaf ?? "", call });
          if (changes.length + problems.length === 0) continue;
          const done = changes.map(({ path: file }) => file).join(", ");
          return [done === "" ? "" : t("Taken back: {done}.", { done }), ...problems]
            .filter((said) => said !== "")
            .join(" ");
        }
        return t("No call on this branch has changed a file, or all is as it was.");
      },
    },
    {
      name: t("Go to what waits to be heard"),
      slash: "waiting",
      run: () => goTo("#waiting button") ?? t("The agent has got all that you wrote."),
    },
    {
      name: t("Go to what runs in the background"),
      slash: "processes",
      run: () => goTo("#processes button") ?? t("Nothing goes on in the background."),
    },
  ];
  if (!isIdle) return always;
  const say = (text: string) => connection.ask("turn.say", { conversation, parts: [{ type: "text", text }], ...at });
  return [
    ...always,
    {
      name: t("Answer again"),
      slash: "retry",
      takes: "turn.retry",
      async run(text = "") {
        const asked = path.findLast(({ role }) => role === "user");
        if (!asked) return t("There is nothing to ask again: nobody has said anything yet.");
        if (text === "") return retry(asked.id);
        const parts = [{ type: "text", text }] as const;
        const said = await connection.ask("turn.retry", { conversation, at: asked.id, parts });
        if (said.message !== undefined) showBranch(said.message, { focus: said.message });
        return undefined;
      },
    },
    {
      name: t("Go on without a new message"),
      slash: "resume",
      takes: "turn.resume",
      run: () => connection.ask("turn.resume", { conversation, ...at }),
    },
    {
      name: t("Have changes reviewed"),
      slash: "review",
      takes: "turn.retry",
      async run(of = "") {
        const parts = [{ type: "text", text: reviewRequest(of) }] as const;
        const [first] = tree.children.get(null) ?? [];
        // A branch of its own from the root: the reviewer knows nothing of how the changes came about.
        const said =
          first === undefined
            ? await connection.ask("turn.say", { conversation, parts, agent: REVIEWER })
            : await connection.ask("turn.retry", { conversation, at: first, parts, agent: REVIEWER });
        if (first !== undefined && said.message !== undefined) showBranch(said.message);
        return undefined;
      },
    },
    {
      name: t("What the last review found"),
      slash: "findings",
      takes: "turn.say",
      run(number = "") {
        if (number === "") return show("findings");
        const finding = lastFindings(tree, leaf)?.[Number(number) - 1];
        return finding ? mend(finding) : t("There is no finding {number}; /findings lists them.", { number });
      },
    },
    {
      name: t("Have AGENTS.md written"),
      slash: "init",
      takes: "turn.say",
      run: (matters = "") => say(instructionsRequest(matters)),
    },
    {
      name: t("Sum up what was said so far"),
      slash: "compact",
      takes: "branch.compact",
      async run(keep = "") {
        if (leaf === null) return t("Nothing has been said yet.");
        const wanted = { conversation, at: leaf, ...(keep === "" ? {} : { keep }) };
        const { problem, compaction } = await connection.ask("branch.compact", wanted);
        if (compaction) return compactedLine(compaction, inWords);
        return problem === undefined
          ? tCount(
              path.length,
              "A summary stands for what was said, {count} message. All of it stays in the tree.",
              "A summary stands for what was said, {count} messages. All of it stays in the tree.",
            )
          : t("Nothing was shortened: {problem}", { problem });
      },
    },
  ];

  /** Puts the focus there; nothing when there is no such place. */
  function goTo(selector: string): "" | undefined {
    if (!document.querySelector(selector)) return undefined;
    focusOn(selector);
    return "";
  }
}
