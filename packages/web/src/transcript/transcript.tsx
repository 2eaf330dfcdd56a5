import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useState } from "react";
import { useConversation, useTree } from "../conversation/use-conversation.ts";
import { MessageArticle } from "./message-article.tsx";

/** The messages of a branch, from its root to its end. Only those in sight are in the page. */
export function Transcript({ leaf }: { readonly leaf: string | null }) {
  const conversation = useConversation();
  const tree = useTree();
  const scroller = useRef<HTMLDivElement>(null);
  const path = conversation.path(leaf);
  const [atEnd, setAtEnd] = useState(true);
  const rows = useVirtualizer({
    count: path.length,
    getScrollElement: () => scroller.current,
    getItemKey: (index) => path[index] ?? index,
    estimateSize: () => 120,
    overscan: 6,
    anchorTo: "end",
  });
  const items = rows.getVirtualItems();
  // What is about to come into sight is read before it is.
  useEffect(() => conversation.read(items.map(({ index }) => path[index] ?? "")), [conversation, items, path]);
  const isBusy = tree ? [...tree.runs.values()].some((run) => run.call === undefined && run.leaf === leaf) : false;
  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={scroller}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) =>
          setAtEnd(scrollHeight - scrollTop - clientHeight < 40)
        }
        role="log"
        aria-label="Messages"
        aria-busy={isBusy}
        className="h-full overflow-y-auto"
      >
        <div className="relative mx-auto w-full max-w-3xl" style={{ height: rows.getTotalSize() }}>
          {items.map(({ index, key, start }) => (
            <div
              key={key}
              ref={rows.measureElement}
              data-index={index}
              className="absolute top-0 left-0 w-full px-4 py-2"
              style={{ transform: `translateY(${start}px)` }}
            >
              <MessageArticle id={path[index] ?? ""} place={index + 1} of={path.length} />
            </div>
          ))}
        </div>
      </div>
      {!atEnd && (
        <button
          type="button"
          onClick={() => rows.scrollToIndex(path.length - 1, { align: "end" })}
          className="absolute bottom-3 left-1/2 -translate-x-1/2 rounded-full border border-line bg-raised px-3 py-1 text-sm shadow"
        >
          Jump to latest
        </button>
      )}
    </div>
  );
}
