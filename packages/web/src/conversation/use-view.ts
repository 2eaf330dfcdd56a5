import { type ConversationState, standing } from "@banyan/core/conversation";
import { useNavigate, useRouter, useRouterState } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { conversationIn } from "../shell/address.ts";
import { useConversation } from "./use-conversation.ts";

declare module "@tanstack/react-router" {
  interface HistoryState {
    /** The leaf of the address is the end of a branch: where the branch has grown since, its new end is shown. */
    end?: boolean;
    /** A message that has the focus once it is shown. */
    focus?: string;
  }
}

/** How a branch is shown. */
interface Showing {
  /** Exactly up to this message, although the branch goes on: what is written next begins another one. */
  readonly exactly?: boolean;
  /** The message that gets the focus. */
  readonly focus?: string;
}

/** What becomes of a navigation that another one has overtaken: that one is shown. */
const OVERTAKEN = () => {};

/** Shows a branch, by its leaf. Each time is an entry of the browser's history (W6). */
export function useShow(): (leaf: string, showing?: Showing) => void {
  const navigate = useNavigate();
  const { id: conversation } = useConversation();
  return (leaf, { exactly = false, focus } = {}) => {
    navigate({
      to: "/c/$conversation",
      params: { conversation },
      search: { leaf },
      state: { end: !exactly, ...(focus === undefined ? {} : { focus }) },
    }).catch(OVERTAKEN);
  };
}

/**
 * The end of the branch in view: the leaf of the address, or what has come below it since. The address follows, so that a
 * reload, a bookmark and other devices show the same branch (W7); what happens on other branches moves nothing (W8).
 */
export function useView(tree: ConversationState, leaf: string | undefined): string | null {
  const conversation = useConversation();
  const navigate = useNavigate();
  const router = useRouter();
  const isEnd = useRouterState({ select: ({ location }) => location.state.end === true });
  const isKnown = leaf !== undefined && tree.messages.has(leaf);
  const last = useRef<string | null>(undefined);
  // What was said just now may be in the address before it is in the tree.
  const isComing = leaf !== undefined && !isKnown && last.current !== undefined && last.current !== leaf;
  const start = isComing ? (last.current ?? null) : standing(tree, isKnown ? leaf : tree.leaf);
  // What is below the leaf already when it is shown on purpose is another branch.
  const before = useRef<{ readonly start: string | null; readonly children: number }>(undefined);
  const children = tree.children.get(start) ?? [];
  if (before.current?.start !== start) {
    before.current = { start, children: isKnown && !isEnd ? children.length : 0 };
  }
  const newest = children.length > before.current.children ? children.at(-1) : undefined;
  const view =
    newest === undefined || start === null ? (newest ?? start) : standing(tree, conversation.leafBelow(newest));
  useEffect(() => {
    last.current = view;
    if (view === null) return;
    conversation.noteView(view);
    // Once more when it is left: versions that came meanwhile are to lead back to it.
    return () => conversation.noteView(view);
  }, [conversation, view]);
  useEffect(() => {
    if (view === null || view === leaf || isComing) return;
    // Who has just gone elsewhere is not brought back, although the page still shows where they were.
    const { pathname, search } = router.state.location;
    if (conversationIn(pathname) !== conversation.id || search.leaf !== leaf) return;
    navigate({
      to: "/c/$conversation",
      params: { conversation: conversation.id },
      search: (old) => ({ ...old, leaf: view }),
      hash: true,
      state: { end: true },
      replace: true,
    }).catch(OVERTAKEN);
  }, [conversation, navigate, router, view, leaf, isComing]);
  return view;
}
