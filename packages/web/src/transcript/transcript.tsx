import { foldSentence } from "@banyan/client/display";
import { siblings } from "@banyan/core/conversation";
import { visibleProse } from "@banyan/core/shown";
import { defaultRangeExtractor, type Range, useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useCallback, useEffect, useRef, useState } from "react";
import { useEntry, usePageView } from "../parts/browser/navigation.tsx";
import { useConversation, useTree } from "../parts/conversation/use-conversation.ts";
import { useShow } from "../parts/conversation/use-view.ts";
import { Button, SkipLink } from "../parts/design/button.tsx";
import { Icon } from "../parts/design/icon.tsx";
import { usePageState } from "../parts/page/page.ts";
import { ARROWS, say, t, tCount } from "../parts/phrases/phrases.ts";
import type { Fold } from "./folds.ts";
import { useFolds } from "./folds.ts";
import { MessageArticle } from "./message-article.tsx";
import { keepTabStops } from "./tab-stops.ts";
import { useFollowing } from "./use-following.ts";
import { useScrollRestoration } from "./use-scroll-restoration.ts";

/** The messages of a branch, from root to end. The page contains only visible messages and the focused message. */
export function Transcript({ leaf }: { readonly leaf: string | null }) {
  const conversation = useConversation();
  const tree = useTree();
  const show = useShow();
  const scroller = useRef<HTMLDivElement>(null);
  const path = conversation.path(leaf);
  const folds = useFolds(tree, path);
  const following = useFollowing(scroller);
  const [focused, setFocused] = useState<string>();
  const place = focused === undefined ? -1 : path.indexOf(focused);
  const tabbable = place < 0 ? path.findLastIndex((id) => !folds.hides(id)) : place;
  const rows = useVirtualizer<HTMLDivElement, Element>({
    count: path.length,
    getScrollElement: () => scroller.current,
    getItemKey: (index) => path[index] ?? index,
    estimateSize: () => 120,
    overscan: 6,
    // Rows that are measured together are rendered together.
    useFlushSync: false,
    // The focused row stays, wherever the view scrolls.
    rangeExtractor: useCallback(
      (range: Range) => {
        const shown = defaultRangeExtractor(range);
        return tabbable < 0 || shown.includes(tabbable) ? shown : [...shown, tabbable].sort((a, b) => a - b);
      },
      [tabbable],
    ),
  });
  const restoration = useScrollRestoration(rows, path, following);
  const said = usePageState(({ unsent }) => unsent.findLast((one) => one.conversation === conversation.id)?.id);
  // A user who sends a message wants to see the answer.
  useEffect(() => {
    if (said !== undefined) following.follow();
  }, [said, following.follow]);
  // Measures the growing row during rendering, so that the view scrolls before other rows are laid out (W54).
  const measureLast = () => {
    const last = path.length - 1;
    const row = following.content.current?.querySelector(`:scope > [data-index="${last}"]`);
    if (row) rows.resizeItem(last, Math.round(row.getBoundingClientRect().height));
  };
  const items = rows.getVirtualItems();
  // Messages that are about to become visible are read before.
  useEffect(() => conversation.read(items.map(({ index }) => path[index] ?? "")), [conversation, items, path]);

  const wanted = useRef<string>(undefined);
  const focus = useCallback(
    (id: string | undefined, align: "auto" | "center" | "stay" = "auto") => {
      const index = id === undefined ? -1 : path.indexOf(id);
      if (index < 0) return;
      wanted.current = id;
      setFocused(id);
      if (id !== undefined) folds.open(id);
      if (align === "stay") return;
      if (index < path.length - 1) following.stop();
      rows.scrollToIndex(index, { align });
    },
    [path, rows, following.stop, folds],
  );
  // The element of a message may exist only after the next rendering.
  useEffect(() => {
    const element = wanted.current === undefined ? null : document.getElementById(`m-${wanted.current}`);
    if (!element) return;
    wanted.current = undefined;
    element.focus({ preventScroll: true });
  });

  const message = usePageView((view) => view.message);
  const focusOnArrival = useEntry((entry) => entry.focus);
  const linked = focusOnArrival ?? message;
  const arrived = useRef<string>(undefined);
  useEffect(() => {
    if (linked === undefined || arrived.current === linked || !path.includes(linked)) return;
    arrived.current = linked;
    if (restoration.isReturn()) focus(linked, "stay");
    else focus(linked, focusOnArrival === undefined ? "center" : "auto");
  }, [linked, focusOnArrival, path, focus, restoration]);

  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const index = path.findIndex((id) => (event.target as HTMLElement).id === `m-${id}`);
    const id = path[index];
    if (!tree || id === undefined || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const branches = (at: string) => siblings(tree, at).length > 1;
    const isInSight = (at: string) => !folds.hides(at);
    const versions = siblings(tree, id);
    const version = (step: number) => {
      const to = versions[versions.indexOf(id) + step];
      if (to !== undefined) show(conversation.leafBelow(to), { focus: to });
    };
    if (event.altKey && event.key === "ArrowUp") focus(path.slice(0, index).findLast(branches));
    else if (event.altKey && event.key === "ArrowDown") focus(path.slice(index + 1).find(branches));
    else if (event.altKey) return;
    else if (event.key === ARROWS.back) version(-1);
    else if (event.key === ARROWS.on) version(1);
    else if (event.key === "ArrowUp") focus(path.slice(0, index).findLast(isInSight));
    else if (event.key === "ArrowDown") focus(path.slice(index + 1).find(isInSight));
    else if (event.key === "Home") focus(path[0]);
    else if (event.key === "End") focus(path.at(-1));
    else return;
    event.preventDefault();
  };

  useEffect(() => (scroller.current ? keepTabStops(scroller.current) : undefined), []);

  const isBusy = conversation.running.has(leaf ?? "");
  const end = useRef<string>(undefined);
  if (following.isFollowing) end.current = path.at(-1);
  const fresh =
    end.current === undefined || !path.includes(end.current) ? 0 : path.length - 1 - path.indexOf(end.current);
  return (
    <div className="relative min-h-0 flex-1">
      <SkipLink to="#composer">{t("Skip the messages")}</SkipLink>
      <div
        ref={scroller}
        onScroll={() => {
          following.onScroll();
          restoration.onScroll();
        }}
        role="log"
        aria-label={t("Messages")}
        aria-busy={isBusy}
        aria-live="off"
        onKeyDown={onKeyDown}
        className="h-full overflow-y-auto overflow-x-hidden [overflow-anchor:none]"
      >
        <div
          ref={following.content}
          className="relative mx-auto w-full max-w-text"
          style={{ height: rows.getTotalSize() }}
        >
          {items.map(({ index, key, start }) => {
            const id = path[index] ?? "";
            const fold = folds.of(id);
            const isFirst = fold?.messages[0] === id;
            const isHidden = folds.hides(id);
            return (
              <div
                key={key}
                ref={rows.measureElement}
                data-index={index}
                className={`absolute top-0 start-0 w-full px-4 ${isHidden && !isFirst ? "" : "py-2"}`}
                style={{ transform: `translateY(${start}px)` }}
              >
                {isFirst && <FoldLine fold={fold} isOpen={!isHidden} onToggle={() => folds.toggle(fold)} />}
                {!isHidden && (
                  <MessageArticle
                    id={id}
                    next={path[index + 1]}
                    place={index + 1}
                    of={path.length}
                    isTabbable={index === tabbable}
                    onFocus={setFocused}
                    onGrown={index === path.length - 1 && following.isFollowing ? measureLast : undefined}
                  />
                )}
                <GivenUp
                  texts={conversation.givenUp.flatMap(({ parentId, text }) => (parentId === id ? [text] : []))}
                  isAskedAnew={path[index + 1] !== undefined || conversation.running.has(id)}
                />
              </div>
            );
          })}
        </div>
      </div>
      {following.isAway && (
        <div className="absolute bottom-3 left-1/2 -translate-x-1/2 rounded-full bg-surface shadow-open">
          <Button onClick={following.follow}>
            {fresh > 0
              ? tCount(fresh, "Jump to latest ({count} new)", "Jump to latest ({count} new)")
              : t("Jump to latest")}
          </Button>
        </div>
      )}
    </div>
  );
}

/** The text of discarded answers with a mark, above the answer that replaced them, if any. */
function GivenUp({ texts, isAskedAnew }: { readonly texts: readonly string[]; readonly isAskedAnew: boolean }) {
  if (texts.length === 0) return null;
  return (
    <aside aria-label={t("Discarded")} className="mt-2 text-soft text-sm [overflow-wrap:anywhere]">
      {isAskedAnew ? t("Answer cut off, asking again. The text above is discarded.") : t("Partial answer discarded.")}
      {texts.map((text, index) => (
        <blockquote
          key={index}
          className="my-1 max-h-40 overflow-auto whitespace-pre-wrap border-hair border-s-2 ps-3 line-through"
        >
          {visibleProse(text)}
        </blockquote>
      ))}
    </aside>
  );
}

function FoldLine({ fold, isOpen, onToggle }: { readonly fold: Fold; readonly isOpen: boolean; onToggle(): void }) {
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      onClick={onToggle}
      className="flex w-full items-center gap-2 rounded-lg border border-hair px-3 py-1.5 text-start text-sm hover:bg-raised"
    >
      <span aria-hidden="true" className="text-leaf text-xs">
        ✓
      </span>
      <span className="min-w-0 [overflow-wrap:anywhere]">{foldSentence(fold.parts, say)}</span>
      <span className="whitespace-nowrap text-soft text-xs">
        {tCount(fold.messages.length, "{count} step", "{count} steps")}
      </span>
      <span className="ms-auto text-soft">
        <Icon of={isOpen ? "open" : "fold"} />
      </span>
    </button>
  );
}
