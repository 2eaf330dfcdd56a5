import { type FeedItem, textOf, toolOf } from "@banyan/core/conversation";
import { shownStatus, type ToldType, toldItem, type UntoldType } from "@banyan/core/shown";
import { useEffect, useState } from "react";
import { say, t, tCount } from "../phrases/phrases.ts";
import { useMay } from "../use-may.ts";
import type { LiveConversation } from "./live-conversation.ts";
import { useConversation } from "./use-conversation.ts";

/** What was told stays for a while: what comes at the same moment must not take its place. */
const KEPT = 5;

interface Told {
  readonly id: number;
  readonly text: string;
  readonly isUrgent: boolean;
}

/** Tells screen readers what happens, never word by word: politely, but for what needs the person now. */
export function Announcer() {
  const conversation = useConversation();
  const mayAnswer = useMay()("question.answer");
  const [told, setTold] = useState<readonly Told[]>([]);
  useEffect(
    () =>
      conversation.hear((item) => {
        const said = inWords(item, conversation, mayAnswer);
        if (!said) return;
        const { text, isUrgent = false } = said;
        setTold((before) => [...before, { id: (before.at(-1)?.id ?? 0) + 1, text, isUrgent }].slice(-KEPT));
      }),
    [conversation, mayAnswer],
  );
  const region = (isUrgent: boolean) =>
    told.filter((one) => one.isUrgent === isUrgent).map(({ id, text }) => <p key={id}>{text}</p>);
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

/** What is read where it stands: it would interrupt whoever listens, again and again. */
type ReadWhereItStands =
  | ToldType
  | `${"text" | "reasoning" | "call.input" | "call.output" | "call.draft"}.delta`
  | `call.${"pending" | "approval-resolved" | "executing" | "completed" | "denied" | "cancelled"}`
  | `run.${"started" | "ended"}`
  | "message.added"
  | "memory.recalled"
  | "file.changed"
  | "input.delivered"
  | "question.answered";

/** What an item means to somebody who cannot see the page; most mean nothing. */
function inWords(
  item: FeedItem,
  { state, givenUp }: LiveConversation,
  mayAnswer: boolean,
): { readonly text: string; readonly isUrgent?: boolean } | undefined {
  const message = "message" in item && typeof item.message === "string" ? state?.messages.get(item.message) : undefined;
  const callOf = (id: string) =>
    message?.role === "assistant" ? message.calls.find((call) => call.id === id) : undefined;
  const tool = (id: string) => {
    const call = callOf(id);
    return call === undefined ? "" : toolOf(call);
  };
  switch (item.type) {
    case "model.retrying":
      // Told in a line that counts down, which would be read out every second.
      return { text: toldItem(item, say) ?? "" };
    case "message.started":
      return message?.call === undefined ? { text: t("Responding") } : undefined;
    case "message.abandoned":
      return givenUp.some(({ id }) => id === item.message)
        ? { text: t("What was written of this answer is given up; it is asked for anew.") }
        : undefined;
    case "call.failed": {
      const call = callOf(item.call);
      const isNotRun = call !== undefined && shownStatus(call) === "not-run";
      const name = { tool: tool(item.call) };
      return { text: isNotRun ? t("Tool {tool} did not run", name) : t("Tool {tool} failed", name) };
    }
    case "call.approval-requested":
      // What a guest cannot answer is not urgent to them.
      return {
        text: mayAnswer
          ? t("Tool {tool} waits for your permission", { tool: tool(item.call) })
          : t("Tool {tool} waits for permission", { tool: tool(item.call) }),
        isUrgent: mayAnswer,
      };
    case "question.asked":
      return {
        text: mayAnswer
          ? t("A question for you: {text}", { text: item.text })
          : t("A question: {text}", { text: item.text }),
        isUrgent: mayAnswer,
      };
    case "message.completed":
      if (!message || message.call !== undefined || item.finish === "calls") return undefined;
      if (item.error !== undefined)
        return { text: t("The answer broke off: {error}", { error: item.error }), isUrgent: true };
      return {
        text: tCount(
          textOf(message).match(/\S+/g)?.length ?? 0,
          "Response complete, {count} word",
          "Response complete, {count} words",
        ),
      };
    default:
      item.type satisfies UntoldType | ReadWhereItStands;
      return undefined;
  }
}
