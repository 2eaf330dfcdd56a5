import { shownStatus } from "@banyan/client/words";
import { type Call, type ConversationState, siblings } from "@banyan/core/conversation";
import { useState } from "react";
import { t } from "../parts/phrases/phrases.ts";

/** Adjacent messages of a branch whose calls only read: shown as one line until the user opens the line (W30). */
export interface Fold {
  /** The messages in order; the first one shows the line. */
  readonly messages: readonly string[];
  readonly calls: readonly Call[];
}

function foldsOf(tree: ConversationState, path: readonly string[]): ReadonlyMap<string, Fold> {
  const folds = new Map<string, Fold>();
  let open: { readonly messages: string[]; readonly calls: Call[] } | undefined;
  for (const id of path) {
    const calls = lookingCalls(tree, id);
    if (!calls) {
      open = undefined;
      continue;
    }
    open ??= { messages: [], calls: [] };
    open.messages.push(id);
    open.calls.push(...calls);
    // A single message is no fold.
    if (open.messages.length > 1) for (const folded of [...open.messages.slice(0, 1), id]) folds.set(folded, open);
  }
  return folds;
}

function lookingCalls(tree: ConversationState, id: string): readonly Call[] | undefined {
  const message = tree.messages.get(id);
  if (message?.role !== "assistant" || message.finish !== "calls" || message.calls.length === 0) return undefined;
  if (message.starred || message.label !== undefined || siblings(tree, id).length > 1) return undefined;
  const says = message.parts.some((part) => part.type === "text" && part.text.trim() !== "");
  return says || !message.calls.every(isLookingCall) ? undefined : message.calls;
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

/** Returns whether a call only read and succeeded. Failures and calls with files are never folded (W30). */
export function isLookingCall(call: Call): boolean {
  return call.about?.looksAt !== undefined && shownStatus(call) === "completed" && call.files === undefined;
}

/** Returns a line such as `Read 7 files, 2 searches`: the most frequent kind comes first. */
export function looksInWords(calls: readonly Call[]): string {
  const looks = calls.flatMap(({ about }) => about?.looksAt ?? []);
  const counts = new Map<string, number>();
  for (const { one } of looks) counts.set(one, (counts.get(one) ?? 0) + 1);
  const several = new Map(looks.map((look) => [look.one, look.several]));
  const kinds = [...counts].toSorted(([, first], [, second]) => second - first);
  const what = kinds.map(([one, count]) => `${count} ${count === 1 ? one : several.get(one)}`).join(", ");
  return t("Read {what}", { what });
}
