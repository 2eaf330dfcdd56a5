import { type ConversationState, standingLeaf } from "@banyan/core/conversation";
import { useEffect, useRef } from "react";
import { correct, currentView, goToView, useEntry } from "../browser/navigation.tsx";
import { useConversation } from "./use-conversation.ts";

interface BranchViewOptions {
  /** True if the branch is shown only up to this message. The next message then starts another branch. */
  readonly exactly?: boolean;
  readonly focus?: string;
}

/** Returns a function that shows a branch, by its leaf. Each call adds an entry to the browser's history (W6). */
export function useShow(): (leaf: string, showing?: BranchViewOptions) => void {
  const { id: conversation } = useConversation();
  return (leaf, { exactly = false, focus } = {}) => goToView({ conversation, leaf }, { end: !exactly, focus });
}

/**
 * Returns the end of the branch in view: the leaf in the address, or a later message below it. The address follows, so
 * that a reload, a bookmark or another device shows the same branch (W7). Other branches do not change the view (W8).
 */
export function useView(tree: ConversationState, leaf: string | undefined): string | null {
  const conversation = useConversation();
  const isEnd = useEntry(({ end = false }) => end);
  const isKnown = leaf !== undefined && tree.messages.has(leaf);
  const last = useRef<string | null>(undefined);
  // A message that was just sent may be in the address before it is in the tree.
  const isComing = leaf !== undefined && !isKnown && last.current !== undefined && last.current !== leaf;
  const start = isComing ? (last.current ?? null) : standingLeaf(tree, isKnown ? leaf : tree.leaf);
  // Messages that were already below an explicitly chosen leaf are another branch.
  const before = useRef<{ readonly start: string | null; readonly children: number }>(undefined);
  const children = tree.children.get(start) ?? [];
  if (before.current?.start !== start) {
    before.current = { start, children: isKnown && !isEnd ? children.length : 0 };
  }
  const newest = children.length > before.current.children ? children.at(-1) : undefined;
  const view =
    newest === undefined || start === null ? (newest ?? start) : standingLeaf(tree, conversation.leafBelow(newest));
  useEffect(() => {
    last.current = view;
    if (view === null) return;
    conversation.noteView(view);
    // Note the view again when leaving: later versions must lead back to it.
    return () => conversation.noteView(view);
  }, [conversation, view]);
  useEffect(() => {
    if (view === null || view === leaf || isComing) return;
    // A user who has just navigated elsewhere stays there, although the page still renders the old view.
    const current = currentView();
    if (current.conversation !== conversation.id || current.leaf !== leaf) return;
    correct({ ...current, leaf: view }, { end: true });
  }, [conversation, view, leaf, isComing]);
  return view;
}
