import { useEffect, useRef, useState } from "react";
import { useConversation, useTree } from "../parts/conversation/use-conversation.ts";
import { Button } from "../parts/design/button.tsx";
import { changesByCalls, messagesLeft, withSubAgents } from "../parts/diff/branch-changes.ts";
import { useMay } from "../parts/page/use-may.ts";
import { t, tCount } from "../parts/phrases/phrases.ts";
import { RestoreFiles } from "./restore-files.tsx";
import { usePanel } from "./use-panel.ts";

interface PreviousBranch {
  readonly leaf: string;
  readonly files: number;
}

/** Warns a user who has left a branch with changed files that these changes stay (W15). */
export function LeftBranchNotice({ leaf }: { readonly leaf: string | null }) {
  const conversation = useConversation();
  const tree = useTree();
  const { show } = usePanel();
  const before = useRef(leaf);
  const [left, setLeft] = useState<PreviousBranch>();
  const [isRestoring, setRestoring] = useState(false);
  const may = useMay();
  useEffect(() => {
    // Opening a sub-agent, or coming back from one, leaves no branch.
    if (leaf !== null && tree?.messages.get(leaf)?.call !== undefined) return;
    const from = before.current;
    before.current = leaf;
    if (!tree || from === null || from === leaf) return;
    const messages = withSubAgents(tree, messagesLeft(tree, from, leaf));
    if (messages.length === 0) return;
    const paths = new Set(changesByCalls(messages).map(({ change }) => change.path));
    // Unread messages have the number of their changes, but not the paths.
    const unread = messages.reduce((sum, { id }) => sum + (conversation.outline(id)?.changed ?? 0), 0);
    const files = paths.size + unread;
    setRestoring(false);
    setLeft(files === 0 ? undefined : { leaf: from, files });
  }, [conversation, tree, leaf]);
  if (!left) return null;
  const close = () => setLeft(undefined);
  if (isRestoring) return <RestoreFiles leaf={left.leaf} to={leaf} onClose={close} />;
  return (
    <p
      role="status"
      className="flex flex-wrap items-center gap-2 border-hair border-b bg-warn-ground px-4 py-2 text-sm text-warn"
    >
      <span>
        {tCount(
          left.files,
          "The branch you left changed {count} file. The change was not undone.",
          "The branch you left changed {count} files. The changes were not undone.",
        )}
      </span>
      <Button isSmall onClick={() => show("changes", left.leaf)}>
        {t("Show the changes")}
      </Button>
      {may("file.rewind") && (
        <Button isSmall onClick={() => setRestoring(true)}>
          {t("Restore files")}
        </Button>
      )}
      <Button isSmall onClick={close}>
        {t("Close")}
      </Button>
    </p>
  );
}
