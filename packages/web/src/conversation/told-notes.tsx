import { itemSentence } from "@banyan/client/display";
import type { FeedItem } from "@banyan/core/conversation";
import { useEffect, useState } from "react";
import { say, t } from "../phrases/phrases.ts";
import type { LiveConversation } from "./live-conversation.ts";
import { useConversation } from "./use-conversation.ts";

/** How many stay: a turn that tells more has told what matters by then. */
const KEPT = 5;

/** What is told elsewhere: a line of its own counts down, and a limit is asked about. */
const ELSEWHERE: ReadonlySet<FeedItem["type"]> = new Set(["model.retrying", "model.waiting", "run.paused"]);

/** Whether it is told where a person can do something about it. */
function isToldElsewhere(item: FeedItem): boolean {
  return item.type === "turn.waiting" ? item.waits : ELSEWHERE.has(item.type);
}

interface Note {
  readonly id: number;
  readonly text: string;
  /** A message of its branch; nothing for a note that is about no run and no message. */
  readonly at: string | null | undefined;
  /** The note is about the turn that begins next. */
  readonly isEarly: boolean;
  /** The item of the line. */
  readonly type: FeedItem["type"];
}

/**
 * What happens beside what is said and done on the branch in view, a line each, below its end, until the next turn begins
 * (F37, W49): memory that was skipped, a context that is summed up, a callback that failed.
 */
export function ToldNotes({ leaf }: { readonly leaf: string | null }) {
  const conversation = useConversation();
  const [notes, setNotes] = useState<readonly Note[]>([]);
  useEffect(() => {
    setNotes([]);
    return conversation.hear((item) => {
      if (item.type === "run.started" && item.call === undefined)
        setNotes((before) => before.flatMap((note) => (note.isEarly ? [{ ...note, isEarly: false }] : [])));
      // The summary says itself that it is there, and another line why there is none.
      if (item.type === "context.not-shortened" || (item.type === "message.added" && item.role === "summary"))
        setNotes((before) => before.filter(({ type }) => type !== "context.shortening"));
      const text = isToldElsewhere(item) ? undefined : itemSentence(item, say);
      if (text === undefined) return;
      const isEarly = item.type === "message.left-out";
      const ofRun = "run" in item && typeof item.run === "string" ? leafOf(conversation, item.run) : undefined;
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

function leafOf(conversation: LiveConversation, run: string): string | null | undefined {
  return conversation.state?.runs.get(run)?.leaf;
}
