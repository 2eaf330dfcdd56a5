import { pathTo } from "@banyan/core/conversation";
import { useEffect, useMemo } from "react";
import { TREE } from "../parts/conversation/live-conversation.ts";
import { useConversation, useTree } from "../parts/conversation/use-conversation.ts";
import { Button } from "../parts/design/button.tsx";
import { changesByCalls, unreadChanges, withSubAgents } from "../parts/diff/branch-changes.ts";
import { ChangedFiles } from "../parts/diff/changed-files.tsx";
import { madeChange } from "../parts/diff/shown-file.ts";
import { t } from "../parts/phrases/phrases.ts";
import { usePanel } from "./use-panel.ts";

/** Lists the files that a branch and its sub-agents changed, in the order of their first changes. */
export function ChangesPanel({ leaf, isOther }: { readonly leaf: string | null; readonly isOther: boolean }) {
  const conversation = useConversation();
  const tree = useTree();
  const { show } = usePanel();
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
      <p className="flex flex-wrap items-center gap-2 px-3 py-2 text-soft text-xs">
        {isOther ? t("Changes on the other branch.") : t("Changes on this branch.")}{" "}
        {t("All branches share the same files. Switching branches does not undo changes.")}
        {isOther && (
          <Button isSmall onClick={() => show("changes")}>
            {t("Show this branch")}
          </Button>
        )}
      </p>
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
