import { foldNeighbours, type QuietPart, quietCall } from "@banyan/client/display";
import { type ConversationState, siblings } from "@banyan/core/conversation";
import { useState } from "react";

/** Adjacent messages of a branch whose calls only read: shown as one line until the user opens the line (W30). */
export interface Fold {
  /** The messages in order; the first one shows the line. */
  readonly messages: readonly string[];
  readonly parts: readonly QuietPart[];
}

function foldsOf(tree: ConversationState, path: readonly string[]): ReadonlyMap<string, Fold> {
  const folds = new Map<string, Fold>();
  const quiet = path.map((id) => ({ id, parts: quietParts(tree, id) }));
  for (const group of foldNeighbours(quiet, ({ parts }) => parts?.[0])) {
    // A single message is no fold.
    if (group.length === 1) continue;
    const fold = { messages: group.map(({ id }) => id), parts: group.flatMap(({ parts = [] }) => parts) };
    for (const id of fold.messages) folds.set(id, fold);
  }
  return folds;
}

/** The calls of a message without text, if all of them fold. */
function quietParts(tree: ConversationState, id: string): readonly QuietPart[] | undefined {
  const message = tree.messages.get(id);
  if (message?.role !== "assistant" || message.finish !== "calls" || message.calls.length === 0) return undefined;
  if (message.starred || message.label !== undefined || siblings(tree, id).length > 1) return undefined;
  const says = message.parts.some((part) => part.type === "text" && part.text.trim() !== "");
  const parts = message.calls.flatMap((call) => quietCall(call) ?? []);
  return says || parts.length < message.calls.length ? undefined : parts;
}

/** The folds of a branch, and which of them are open. */
export interface Folds {
  of(message: string): Fold | undefined;
  hides(message: string): boolean;
  open(message: string): void;
  toggle(fold: Fold): void;
}

/** Folds a branch as it grows; opened folds stay open. */
export function useFolds(tree: ConversationState | undefined, path: readonly string[]): Folds {
  // A fold is open when any of its messages is in the set, because the fold may have grown.
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const folds = tree ? foldsOf(tree, path) : new Map<string, Fold>();
  const isOpen = (fold: Fold) => fold.messages.some((id) => opened.has(id));
  const hides = (id: string) => {
    const fold = folds.get(id);
    return fold !== undefined && !isOpen(fold);
  };
  return {
    of: (id) => folds.get(id),
    hides,
    open(id) {
      if (hides(id)) setOpened(new Set([...opened, id]));
    },
    toggle(fold) {
      const rest = [...opened].filter((id) => !fold.messages.includes(id));
      setOpened(new Set(isOpen(fold) ? rest : [...rest, ...fold.messages.slice(0, 1)]));
    },
  };
}
