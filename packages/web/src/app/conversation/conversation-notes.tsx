import { itemSentence } from "@banyan/client/display";
import type { FeedItem } from "@banyan/core/conversation";
import { useEffect, useState } from "react";
import { useConversation } from "../../parts/conversation/use-conversation.ts";
import { say, t } from "../../parts/phrases/phrases.ts";

const KEPT = 5;

/** Items that the page shows elsewhere: a countdown, and a question about a limit. */
const ELSEWHERE: ReadonlySet<FeedItem["type"]> = new Set(["model.retrying", "model.waiting", "run.paused"]);

/** Returns whether the page shows the item where the user can react to it. */
function isToldElsewhere(item: FeedItem): boolean {
  return item.type === "turn.waiting" ? item.waits : ELSEWHERE.has(item.type);
}

interface Note {
  readonly id: number;
  readonly text: string;
  readonly at: string | null | undefined;
  readonly isEarly: boolean;
  readonly type: FeedItem["type"];
}

/**
 * Shows other events of the current branch, such as skipped memory, a compaction or a failed callback. Each event below
 * the end of the branch has one line, until the next turn begins (F37, W49).
 */
export function ToldNotes({ leaf }: { readonly leaf: string | null }) {
  const conversation = useConversation();
  const [notes, setNotes] = useState<readonly Note[]>([]);
  useEffect(() => {
    setNotes([]);
    return conversation.hear((item) => {
      if (item.type === "run.started" && item.call === undefined)
        setNotes((before) => before.flatMap((note) => (note.isEarly ? [{ ...note, isEarly: false }] : [])));
      // The summary itself, or the next line, reports the outcome.
      if (item.type === "context.not-shortened" || (item.type === "message.added" && item.role === "summary"))
        setNotes((before) => before.filter(({ type }) => type !== "context.shortening"));
      const text = isToldElsewhere(item) ? undefined : itemSentence(item, say);
      if (text === undefined) return;
      const isEarly = item.type === "message.left-out";
      const ofRun =
        "run" in item && typeof item.run === "string" ? conversation.state?.runs.get(item.run)?.leaf : undefined;
      const at = isEarly ? item.message : ofRun;
      setNotes((before) =>
        [...before, { id: (before.at(-1)?.id ?? 0) + 1, type: item.type, text, at, isEarly }].slice(-KEPT),
      );
    });
  }, [conversation]);
  const path = notes.length > 0 ? conversation.path(leaf) : [];
  const shown = notes.filter(({ at }) => at === undefined || at === null || path.includes(at));
  if (shown.length === 0) return null;
  return (
    <ul
      aria-label={t("Other events")}
      aria-live="polite"
      className="mx-auto w-full max-w-text px-4 pb-1 text-soft text-sm"
    >
      {shown.map(({ id, text }) => (
        <li key={id} className="[overflow-wrap:anywhere]">
          {text}
        </li>
      ))}
    </ul>
  );
}
