import { shortCount } from "@banyan/client/words";
import type { ConversationState } from "@banyan/core/conversation";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useState } from "react";
import { useConversation } from "../../parts/conversation/use-conversation.ts";
import { t, tCount } from "../../parts/phrases/phrases.ts";
import type { OutlineRow } from "./rows.ts";
import { onTreeKey } from "./tree-keys.ts";
import { rowName } from "./words.ts";

const ROW = 28;

/** The branches as a keyboard-operated tree (W18). The page contains only the visible rows and the focused row. */
export function Outline({
  tree,
  rows,
  inView,
  focus,
  lookAt,
  onFocus,
  setOpen,
  select,
}: {
  readonly tree: ConversationState;
  readonly rows: readonly OutlineRow[];
  readonly inView: ReadonlySet<string>;
  readonly focus: string | undefined;
  readonly lookAt: string | undefined;
  readonly onFocus: (first: string) => void;
  readonly setOpen: (row: OutlineRow, isOpen: boolean) => void;
  readonly select: (row: OutlineRow) => void;
}) {
  const conversation = useConversation();
  const scroller = useRef<HTMLDivElement>(null);
  // The row that the keyboard moves to; it gets the focus when it is rendered.
  const [wanted, setWanted] = useState<string>();
  const at = Math.max(
    0,
    rows.findIndex(({ first }) => first === focus),
  );
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 20,
    rangeExtractor: ({ startIndex, endIndex, overscan, count }) => {
      const from = Math.max(0, startIndex - overscan);
      const to = Math.min(count - 1, endIndex + overscan);
      const shown = Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
      return at < from ? [at, ...shown] : at > to && at < count ? [...shown, at] : shown;
    },
  });
  useEffect(() => {
    if (wanted === undefined) return;
    document.getElementById(`row-${wanted}`)?.focus();
    setWanted(undefined);
  }, [wanted]);
  const place = lookAt === undefined ? -1 : rows.findIndex(({ first }) => first === lookAt);
  const { scrollToIndex } = list;
  // biome-ignore lint/correctness/useExhaustiveDependencies: changes of other rows must not scroll the view.
  useEffect(() => {
    if (place >= 0) scrollToIndex(place);
  }, [lookAt, scrollToIndex]);
  const words = (row: OutlineRow) => rowName(conversation, tree, row);
  const move = (place: number) => {
    const row = rows[Math.min(rows.length - 1, Math.max(0, place))];
    if (!row) return;
    list.scrollToIndex(rows.indexOf(row));
    onFocus(row.first);
    setWanted(row.id);
  };
  return (
    <div ref={scroller} className="min-h-0 flex-1 overflow-y-auto">
      <div role="tree" aria-label={t("Branches")} className="relative" style={{ height: list.getTotalSize() }}>
        {list.getVirtualItems().map(({ index, start }) => {
          const row = rows[index];
          if (!row) return null;
          return (
            <div
              key={row.first}
              id={`row-${row.id}`}
              role="treeitem"
              aria-level={row.level}
              aria-posinset={row.place}
              aria-setsize={row.of}
              aria-selected={inView.has(row.id)}
              {...(row.hasChildren ? { "aria-expanded": row.isOpen } : {})}
              tabIndex={index === at ? 0 : -1}
              onKeyDown={(event) => onTreeKey(event, { rows, at, wordsOf: words, move, setOpen, select })}
              onFocus={() => onFocus(row.first)}
              onClick={() => {
                onFocus(row.first);
                select(row);
              }}
              className={`absolute flex h-7 w-full cursor-pointer items-center gap-1 px-2 text-sm outline-offset-[-2px] ${inView.has(row.id) ? "bg-leaf-ground" : "hover:bg-sunken"}`}
              style={{ transform: `translateY(${start}px)`, paddingInlineStart: `${Math.min(row.level, 14) * 12}px` }}
            >
              <RowWords row={row} words={words(row)} isStarred={tree.messages.get(row.id)?.starred === true} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

function RowWords({
  row: { hasChildren, isOpen, isRunning, isWaiting, hits, messages },
  words,
  isStarred,
}: {
  readonly row: OutlineRow;
  readonly words: string;
  readonly isStarred: boolean;
}) {
  return (
    <>
      <span aria-hidden="true" className="w-3 shrink-0 text-soft rtl:-scale-x-100">
        {hasChildren ? (isOpen ? "▾" : "▸") : "·"}
      </span>
      {isStarred && (
        <span role="img" aria-label={t("starred")} className="text-warn">
          ★
        </span>
      )}
      {/* Twelve letters are always visible (W69): the texts of the marks shrink first, and their signs stay. */}
      <span dir="auto" className="min-w-[12ch] flex-auto shrink-[1000000] truncate">
        {words}
      </span>
      <span className="flex min-w-0 gap-2 whitespace-nowrap ps-1 text-soft text-xs">
        {isWaiting && <RowStatus sign="●" words={t("waiting for you")} look="text-warn" />}
        {isRunning && !isWaiting && <RowStatus sign="◐" words={t("running")} look="text-leaf" />}
        {hits > 0 && (
          <mark className="shrink-0 rounded bg-warn-ground px-1 text-warn">
            {tCount(hits, "{count} hit", "{count} hits")}
          </mark>
        )}
        {messages > 1 && <Counted number={messages} words={tCount(messages, "{count} message", "{count} messages")} />}
      </span>
    </>
  );
}

function RowStatus({ sign, words, look }: { readonly sign: string; readonly words: string; readonly look: string }) {
  return (
    <span title={words} className={`flex min-w-0 gap-1 ${look}`}>
      <span className="shrink-0">{sign}</span>
      <span className="truncate">{words}</span>
    </span>
  );
}

function Counted({ number, words }: { readonly number: number; readonly words: string }) {
  return (
    <span role="img" aria-label={words} title={words} className="shrink-0 rounded border border-hair px-1 tabular-nums">
      {shortCount(number)}
    </span>
  );
}
