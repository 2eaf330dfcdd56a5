import { changersText } from "@banyan/client/words";
import { pathTo, worktreeAt } from "@banyan/core/conversation";
import { visibleLine } from "@banyan/core/shown";
import type { Result } from "@banyan/protocol";
import { useEffect, useMemo } from "react";
import { TREE } from "../parts/conversation/live-conversation.ts";
import { useConversation, useTree } from "../parts/conversation/use-conversation.ts";
import { Button } from "../parts/design/button.tsx";
import { changesByCalls, unreadChanges, withSubAgents } from "../parts/diff/branch-changes.ts";
import { ChangedFiles } from "../parts/diff/changed-files.tsx";
import { madeChange } from "../parts/diff/shown-file.ts";
import { usePageState } from "../parts/page/page.ts";
import { type Preferences, usePreference } from "../parts/page/preferences.ts";
import { useMay } from "../parts/page/use-may.ts";
import { useServerAnswer } from "../parts/page/use-server-answer.ts";
import { say, t } from "../parts/phrases/phrases.ts";
import { usePanel } from "./use-panel.ts";

/** The earlier states with which files are compared. */
const SINCE: Readonly<Record<Preferences["since"], string>> = {
  turn: t("Since the last turn"),
  conversation: t("Since the beginning"),
  git: t("Since the last commit"),
};

/** Paths that no snapshot has, to list at most. */
const LISTED = 8;

/**
 * Lists the files that differ from an earlier state, no matter who changed them (T66). If there are no such files or no
 * snapshots, lists the changes that tools of the branch and its sub-agents reported, for example for files on another
 * machine.
 */
export function ChangesPanel({ leaf, isOther }: { readonly leaf: string | null; readonly isOther: boolean }) {
  const { show } = usePanel();
  const [since, setSince] = usePreference("since");
  const { answer, problem } = useComparison(leaf, since);
  const tree = useTree();
  const worktree = tree && worktreeAt(tree, leaf);
  return (
    <>
      <p className="flex flex-wrap gap-1 px-3 pt-2 text-xs">
        {(Object.keys(SINCE) as (keyof typeof SINCE)[]).map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={each === since}
            onClick={() => setSince(each)}
            className="min-h-6 rounded border border-transparent px-2 hover:bg-sunken aria-pressed:border-line aria-pressed:text-ink"
          >
            {SINCE[each]}
          </button>
        ))}
      </p>
      <p className="flex flex-wrap items-center gap-2 px-3 py-2 text-soft text-xs">
        {isOther ? t("Changes on the other branch.") : t("Changes on this branch.")}{" "}
        {worktree === undefined
          ? t("All branches share the same files. Switching branches does not undo changes.")
          : t("The files are in the worktree {name}.", { name: visibleLine(worktree) })}
        {isOther && (
          <Button isSmall onClick={() => show("changes")}>
            {t("Show this branch")}
          </Button>
        )}
      </p>
      {problem !== undefined && since === "git" && <p className="px-3 text-sm">{problem}</p>}
      {answer && (answer.files.length > 0 || since === "git") ? (
        <ComparedFiles comparison={answer} />
      ) : (
        <LoggedFiles leaf={leaf} />
      )}
    </>
  );
}

/** The comparison, anew after each turn: a comparison during a turn would find changes of running calls. */
function useComparison(leaf: string | null, since: Preferences["since"]) {
  const { id: conversation } = useConversation();
  const tree = useTree();
  const may = useMay();
  const isAtRest = (tree?.runs.size ?? 0) === 0;
  const how = { ...(since === "turn" && { turn: true }), ...(since === "git" && { git: true }) };
  const input = leaf === null || !may("file.compare") || !isAtRest ? undefined : { conversation, leaf, ...how };
  return useServerAnswer("file.compare", input, isAtRest);
}

function ComparedFiles({ comparison }: { readonly comparison: Result<"file.compare"> }) {
  const tree = useTree();
  const agent = usePageState(({ connection }) => (connection.phase === "open" ? connection.welcome.agent : ""));
  const files = useMemo(
    () =>
      comparison.files
        .filter(({ entry }) => entry !== "folder")
        .map((file) => {
          const shown = madeChange(file, file.path);
          return tree ? { ...shown, word: `${shown.word} · ${changersText(file.changers, tree, agent, say)}` } : shown;
        }),
    [comparison, tree, agent],
  );
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      {files.length === 0 ? (
        <p className="px-3 py-2 text-sm">{t("No files changed.")}</p>
      ) : (
        <ChangedFiles files={files} name={t("Changed files")} height="min-h-0 flex-1" />
      )}
      {comparison.leftOut.slice(0, LISTED).map(({ path }) => (
        <p key={path} className="px-3 text-soft text-xs">
          {t("No snapshot contains {path}.", { path: visibleLine(path) })}
        </p>
      ))}
    </div>
  );
}

function LoggedFiles({ leaf }: { readonly leaf: string | null }) {
  const conversation = useConversation();
  const tree = useTree();
  const version = conversation.version(TREE);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the tree changes in place; the version represents it.
  const messages = useMemo(() => (tree ? withSubAgents(tree, pathTo(tree, leaf)) : []), [tree, version, leaf]);
  const unread = unreadChanges(conversation, messages);
  useEffect(() => conversation.read(unread), [conversation, unread]);
  const changes = changesByCalls(messages);
  const stamp = changes.map(({ call }) => call).join(" ");
  // biome-ignore lint/correctness/useExhaustiveDependencies: changes are frozen, and only ever added.
  const files = useMemo(
    () => changes.map(({ call, change }, index) => madeChange(change, `${call} ${index}`)),
    [stamp],
  );
  return (
    <>
      {unread.length > 0 && <p className="px-3 text-soft text-xs">{t("Reading …")}</p>}
      {files.length === 0 ? (
        unread.length === 0 && <p className="px-3 py-2 text-sm">{t("No files changed.")}</p>
      ) : (
        <div className="flex min-h-0 flex-1 flex-col">
          <ChangedFiles files={files} name={t("Changed files")} height="min-h-0 flex-1" />
        </div>
      )}
    </>
  );
}
