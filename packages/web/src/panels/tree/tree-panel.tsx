import type { ConversationState } from "@banyan/core/conversation";
import { useMemo, useState } from "react";
import { TREE } from "../../parts/conversation/live-conversation.ts";
import { useConversation, useTree } from "../../parts/conversation/use-conversation.ts";
import { useShow } from "../../parts/conversation/use-view.ts";
import { useMay } from "../../parts/page/use-may.ts";
import { useServerAnswer } from "../../parts/page/use-server-answer.ts";
import { t } from "../../parts/phrases/phrases.ts";
import { BranchMap } from "./branch-map.tsx";
import { treeMarks } from "./marks.ts";
import { Outline } from "./outline.tsx";
import { RowActions } from "./row-actions.tsx";
import { type OutlineRow, outlineRows } from "./rows.ts";
import { TreeTools } from "./tree-tools.tsx";
import { rowName } from "./words.ts";

/** Shows all branches as an outline or a map, with a search, filters, and a view of only a part. */
export function TreePanel({ leaf, isMap }: { readonly leaf: string | null; readonly isMap: boolean }) {
  const tree = useTree();
  return tree ? <Branches tree={tree} leaf={leaf} isMap={isMap} /> : null;
}

const NONE: ReadonlySet<string> = new Set();

function Branches({
  tree,
  leaf,
  isMap,
}: {
  readonly tree: ConversationState;
  readonly leaf: string | null;
  readonly isMap: boolean;
}) {
  const conversation = useConversation();
  const [query, setQuery] = useState("");
  const [isOnlyBranch, setOnlyBranch] = useState(false);
  const [onlyStarred, setOnlyStarred] = useState(false);
  const [hoisted, setHoisted] = useState<string>();
  const [closed, setClosed] = useState(NONE);
  const [spread, setSpread] = useState(NONE);
  // Identified by its first message, because the last one changes when the row grows.
  const [focus, setFocus] = useState<string>();
  const found = useTreeSearch(query);
  // The tree changes in place: derived data is computed again with each version.
  const version = conversation.version(TREE);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version represents the tree.
  const inView = useMemo(() => new Set(conversation.path(leaf)), [conversation, leaf, version]);
  const hits = useMemo(() => (isOnlyBranch ? found.intersection(inView) : found), [found, inView, isOnlyBranch]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version represents the tree.
  const rows = useMemo(
    () => outlineRows(tree, treeMarks(tree, hits), { closed: isMap ? NONE : closed, spread, hoisted, onlyStarred }),
    [tree, version, hits, isMap, closed, spread, hoisted, onlyStarred],
  );
  const show = useShow();
  const select = (row: OutlineRow) => {
    setFocus(row.first);
    show(conversation.leafBelow(row.id));
  };
  // Enter moves from hit to hit, in the order of the log.
  const [last, setLast] = useState<string>();
  const jump = () => {
    const order = [...hits].sort();
    const next = order[(order.indexOf(last ?? "") + 1) % order.length];
    if (next === undefined) return;
    setLast(next);
    show(conversation.leafBelow(next), { focus: next });
  };
  // The first hit scrolls into view, and later the current one.
  const lookAt = rowWith(tree, rows, last !== undefined && hits.has(last) ? last : [...hits].sort()[0])?.first;
  const inFocus =
    rows.find(({ first }) => first === focus) ?? rows.findLast(({ id, first }) => inView.has(id) || inView.has(first));
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <TreeTools
        query={query}
        onQuery={setQuery}
        onJump={jump}
        hits={hits.size}
        isOnlyBranch={isOnlyBranch}
        onOnlyBranch={setOnlyBranch}
        onlyStarred={onlyStarred}
        onOnlyStarred={setOnlyStarred}
        {...(hoisted === undefined ? {} : { onWhole: () => setHoisted(undefined) })}
      />
      {rows.length === 0 && (
        <p className="px-3 py-2 text-sm text-soft">{onlyStarred ? t("Nothing starred yet.") : t("No messages yet.")}</p>
      )}
      {isMap ? (
        <BranchMap
          rows={rows}
          leaf={leaf}
          inView={inView}
          wordsOf={(row) => rowName(conversation, tree, row)}
          onSelect={select}
          onSpread={(row) => setSpread(toggled(spread, row.first))}
          spread={spread}
          lookAt={lookAt}
        />
      ) : (
        <Outline
          tree={tree}
          rows={rows}
          inView={inView}
          focus={inFocus?.first}
          lookAt={lookAt}
          onFocus={setFocus}
          setOpen={({ id }, isOpen) => {
            if (isOpen === closed.has(id)) setClosed(toggled(closed, id));
          }}
          select={select}
        />
      )}
      {inFocus && (
        <RowActions
          key={inFocus.first}
          row={inFocus}
          words={rowName(conversation, tree, inFocus)}
          message={tree.messages.get(inFocus.id)}
          onHoist={() => setHoisted(inFocus.first)}
          isSpread={spread.has(inFocus.first)}
          onSpread={() => setSpread(toggled(spread, inFocus.first))}
        />
      )}
    </div>
  );
}

function rowWith(tree: ConversationState, rows: readonly OutlineRow[], message: string | undefined) {
  if (message === undefined) return undefined;
  return rows.find(({ id, messages, hits }) => {
    let at: string | null = hits > 0 ? id : null;
    for (let steps = 1; at !== null && at !== message && steps < messages; steps++)
      at = tree.messages.get(at)?.parentId ?? null;
    return at === message;
  });
}

function toggled(set: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(id)) next.add(id);
  return next;
}

const MOST_HITS = 1_000;

function useTreeSearch(query: string): ReadonlySet<string> {
  const { id: conversation } = useConversation();
  const maySearch = useMay()("conversation.search");
  const wanted = query.trim();
  const input = wanted !== "" && maySearch ? { query: wanted, conversation, limit: MOST_HITS } : undefined;
  const { answer, isCurrent } = useServerAnswer("conversation.search", input);
  const found = isCurrent ? answer : undefined;
  return useMemo(() => (found ? new Set(found.hits.map(({ message }) => message)) : NONE), [found]);
}
