import { displayItem } from "@banyan/client/display";
import { shownStatus } from "@banyan/client/words";
import { type FeedItem, textOf, toolNameOf } from "@banyan/core/conversation";
import { useEffect, useState } from "react";
import type { PageConversation } from "../../parts/conversation/live-conversation.ts";
import { useConversation } from "../../parts/conversation/use-conversation.ts";
import { useMay } from "../../parts/page/use-may.ts";
import { say, t, tCount } from "../../parts/phrases/phrases.ts";

/** The number of announcements that stay: a new one must not replace another of the same moment. */
const KEPT = 5;

interface Announcement {
  readonly id: number;
  readonly text: string;
  readonly isUrgent: boolean;
}

/** Announces events to screen readers, never word by word. Only questions to the user interrupt the reader. */
export function Announcer() {
  const conversation = useConversation();
  const mayAnswer = useMay()("question.answer");
  const [announcements, setAnnouncements] = useState<readonly Announcement[]>([]);
  useEffect(
    () =>
      conversation.hear((item) => {
        const said = announcementOf(item, conversation, mayAnswer);
        if (!said) return;
        const { text, isUrgent = false } = said;
        setAnnouncements((before) => [...before, { id: (before.at(-1)?.id ?? 0) + 1, text, isUrgent }].slice(-KEPT));
      }),
    [conversation, mayAnswer],
  );
  const region = (isUrgent: boolean) =>
    announcements.filter((one) => one.isUrgent === isUrgent).map(({ id, text }) => <p key={id}>{text}</p>);
  return (
    <>
      <div id="told-politely" aria-live="polite" aria-atomic="false" aria-relevant="additions" className="sr-only">
        {region(false)}
      </div>
      <div id="told-at-once" aria-live="assertive" aria-atomic="false" aria-relevant="additions" className="sr-only">
        {region(true)}
      </div>
    </>
  );
}

function announcementOf(
  item: FeedItem,
  { state, givenUp }: PageConversation,
  mayAnswer: boolean,
): { readonly text: string; readonly isUrgent?: boolean } | undefined {
  const display = displayItem(item, say);
  if (!display) return undefined;
  const message = "message" in display ? state?.messages.get(display.message) : undefined;
  const callOf = (id: string) =>
    message?.role === "assistant" ? message.calls.find((call) => call.id === id) : undefined;
  const tool = (id: string) => {
    const call = callOf(id);
    return call === undefined ? "" : toolNameOf(call);
  };
  switch (display.type) {
    case "notice":
      // The page shows a retry as a countdown, which a screen reader would read every second.
      return display.notice.type === "model.retrying" ? { text: display.text ?? "" } : undefined;
    case "message-start":
      return message?.call === undefined ? { text: t("Responding") } : undefined;
    case "message-discard":
      return givenUp.some(({ id }) => id === display.message)
        ? { text: t("Answer cut off, asking again. The text above is discarded.") }
        : undefined;
    case "call-end": {
      const call = callOf(display.call);
      const status = call ? shownStatus(call) : display.outcome;
      const name = { tool: tool(display.call) };
      if (status === "not-run") return { text: t("Tool {tool} did not run", name) };
      return status === "failed" ? { text: t("Tool {tool} failed", name) } : undefined;
    }
    case "question":
      if (display.about === "limit") return undefined;
      // A question is not urgent to a guest, who cannot answer it.
      if (display.about === "text")
        return {
          text: mayAnswer
            ? t("A question for you: {text}", { text: display.text })
            : t("A question: {text}", { text: display.text }),
          isUrgent: mayAnswer,
        };
      return {
        text: mayAnswer
          ? t("Tool {tool} is waiting for your approval", { tool: tool(display.call) })
          : t("Tool {tool} is waiting for approval", { tool: tool(display.call) }),
        isUrgent: mayAnswer,
      };
    case "message-end":
      if (!message || message.call !== undefined || display.finish === "calls") return undefined;
      if (display.error !== undefined)
        return { text: t("The answer broke off: {error}", { error: display.error }), isUrgent: true };
      return {
        text: tCount(
          textOf(message).match(/\S+/g)?.length ?? 0,
          "Response complete, {count} word",
          "Response complete, {count} words",
        ),
      };
    // Screen readers read these where they are; announcements would interrupt the user again and again.
    case "run-start":
    case "run-end":
    case "message":
    case "text":
    case "call":
    case "call-input":
    case "call-output":
    case "call-draft":
    case "file-change":
    case "answer":
    case "memory":
    case "delivery":
    case "goal":
    case "process":
      return undefined;
    default:
      return display satisfies never;
  }
}
