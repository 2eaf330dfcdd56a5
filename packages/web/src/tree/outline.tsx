import { type ConversationState, newestLeaf, textOf } from "@banyan/core/conversation";
import { useNavigate } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useRef, useState } from "react";
import { useConversation, useTree } from "../conversation/use-conversation.ts";
import { type OutlineRow, outlineRows } from "./rows.ts";

/** The branches of the conversation as a tree that is walked with the keyboard (W18). */
export function Outline({ leaf }: { readonly leaf: string | null }) {
  const tree = useTree();
  return tree ? <Rows tree={tree} leaf={leaf} /> : null;
}

function Rows({ tree, leaf }: { readonly tree: ConversationState; readonly leaf: string | null }) {
  const conversation = useConversation();
  const navigate = useNavigate();
  const scroller = useRef<HTMLDivElement>(null);
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const rows = outlineRows(tree, closed);
  const inView = new Set(conversation.path(leaf));
  const [focus, setFocus] = useState<string>();
  const at = Math.max(
    0,
    rows.findIndex(({ id }) => id === focus),
  );
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 28,
    overscan: 20,
  });
  const move = (index: number) => {
    const row = rows[Math.min(rows.length - 1, Math.max(0, index))];
    if (!row) return;
    setFocus(row.id);
    list.scrollToIndex(rows.indexOf(row));
    requestAnimationFrame(() => document.getElementById(`row-${row.id}`)?.focus());
  };
  const toggle = (row: OutlineRow, isOpen: boolean) => {
    const next = new Set(closed);
    if (isOpen) next.delete(row.id);
    else next.add(row.id);
    setClosed(next);
  };
  const select = (row: OutlineRow) =>
    void navigate({
      to: "/c/$conversation",
      params: { conversation: conversation.id },
      search: { leaf: newestLeaf(tree, row.id) },
    });
  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[at];
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ArrowDown") move(at + 1);
    else if (event.key === "ArrowUp") move(at - 1);
    else if (event.key === "Home") move(0);
    else if (event.key === "End") move(rows.length - 1);
    else if (event.key === "Enter") select(row);
    else if (event.key === "ArrowRight") {
      if (row.hasChildren && !row.isOpen) toggle(row, true);
      else if (row.hasChildren) move(at + 1);
    } else if (event.key === "ArrowLeft") {
      if (row.hasChildren && row.isOpen) toggle(row, false);
      else move(rows.findIndex(({ id }) => id === row.parent));
    } else if (event.key.length === 1) {
      const wanted = event.key.toLowerCase();
      const order = [...rows.slice(at + 1), ...rows.slice(0, at + 1)];
      const hit = order.find(({ id }) =>
        wordsOf(tree, conversation.outline(id)?.words, id).toLowerCase().startsWith(wanted),
      );
      if (hit) move(rows.indexOf(hit));
    } else return;
    event.preventDefault();
  };
  return (
    <div ref={scroller} className="h-full overflow-y-auto">
      <div role="tree" aria-label="Branches" className="relative" style={{ height: list.getTotalSize() }}>
        {list.getVirtualItems().map(({ index, start }) => {
          const row = rows[index];
          if (!row) return null;
          const message = tree.messages.get(row.id);
          return (
            <div
              key={row.id}
              id={`row-${row.id}`}
              role="treeitem"
              aria-level={row.level}
              aria-posinset={row.place}
              aria-setsize={row.of}
              aria-selected={inView.has(row.id)}
              {...(row.hasChildren ? { "aria-expanded": row.isOpen } : {})}
              tabIndex={index === at ? 0 : -1}
              onKeyDown={onKeyDown}
              onFocus={() => setFocus(row.id)}
              onClick={() => select(row)}
              className={`absolute flex h-7 w-full cursor-pointer items-center gap-1 truncate px-2 text-sm ${inView.has(row.id) ? "bg-leaf-ground" : "hover:bg-sunken"}`}
              style={{ transform: `translateY(${start}px)`, paddingInlineStart: `${row.level * 12}px` }}
            >
              <span aria-hidden="true" className="w-3 text-soft">
                {row.hasChildren ? (row.isOpen ? "▾" : "▸") : "·"}
              </span>
              {message?.starred && <span title="starred">★</span>}
              <span className="truncate">
                {message?.label ?? wordsOf(tree, conversation.outline(row.id)?.words, row.id)}
              </span>
              {row.messages > 1 && <span className="ml-auto shrink-0 text-soft text-xs">{row.messages} messages</span>}
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** How a message begins, whether it has been read or not. */
function wordsOf(tree: ConversationState, outlined: string | undefined, id: string): string {
  const message = tree.messages.get(id);
  return outlined ?? (message ? textOf(message).replace(/\s+/g, " ").slice(0, 60) : "") ?? "";
}
