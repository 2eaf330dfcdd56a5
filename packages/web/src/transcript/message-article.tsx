import { compactedLine, describeShortfall, formatDuration, toolReport } from "@banyan/client/words";
import {
  type AssistantMessage,
  describeUnreadable,
  type Message,
  type SummaryMessage,
  textOf,
  toolNameOf,
  type UserMessage,
} from "@banyan/core/conversation";
import { visibleProse } from "@banyan/core/shown";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { writtenIn } from "../parts/connection/unsent-message.ts";
import { useConversation, useMessage, useTree } from "../parts/conversation/use-conversation.ts";
import { Icon } from "../parts/design/icon.tsx";
import { SafePart } from "../parts/design/notice.tsx";
import { usePreference } from "../parts/page/preferences.ts";
import { formatPageTime, say, t } from "../parts/phrases/phrases.ts";
import { BrokenOff } from "./broken-off.tsx";
import { CallCards } from "./call-cards.tsx";
import { Markdown } from "./markdown/markdown.tsx";
import { MessageActions } from "./message-actions.tsx";
import { AttachedText, SaidFile } from "./message-file.tsx";
import { NewProblems } from "./new-problems.tsx";
import { RecalledItems } from "./recalled-items.tsx";

const AUTHORS = { user: t("You"), tool: t("A tool"), system: "Banyan" } as const;

/** A message of the current branch. Screen readers get its position on the branch. */
export function MessageArticle({
  id,
  next,
  place,
  of,
  isTabbable,
  onFocus,
  onGrown,
}: {
  readonly id: string;
  readonly next: string | undefined;
  readonly place: number;
  readonly of: number;
  /** True if Tab reaches this message: Tab reaches one message, and arrow keys move between them. */
  readonly isTabbable: boolean;
  onFocus(id: string): void;
  /** Called after a change of the message is rendered, before it is painted. */
  onGrown?: (() => void) | undefined;
}) {
  const conversation = useConversation();
  const { message, version } = useMessage(id);
  const grown = useRef(onGrown);
  grown.current = onGrown;
  // Depends only on the message: measuring renders all messages, and must not measure this one again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a change of the message calls for a measurement.
  useLayoutEffect(() => grown.current?.(), [message, version]);
  const words = conversation.outline(id)?.words;
  return (
    <article
      id={`m-${id}`}
      tabIndex={isTabbable ? 0 : -1}
      onFocus={() => onFocus(id)}
      aria-label={message ? whoOf(message) : t("Message")}
      aria-posinset={place}
      aria-setsize={of}
      className="group/message relative rounded-lg text-read"
    >
      {message ? (
        <SafePart of={id}>
          <Body message={message} next={next} />
        </SafePart>
      ) : (
        <p className="text-soft text-sm">{words ?? "…"}</p>
      )}
      {message?.role === "user" && message.recalled && <RecalledItems message={message.id} items={message.recalled} />}
      {message && <BrokenOff message={id} isEnd={next === undefined} />}
      {message && <MessageActions message={message} isLast={next === undefined} />}
    </article>
  );
}

function whoOf(message: Message): string {
  if (message.role === "user") return AUTHORS[message.author];
  return message.role === "assistant" ? t("The agent") : t("Summary");
}

function Body({ message, next }: { readonly message: Message; readonly next: string | undefined }) {
  const unreadable = describeUnreadable(message, say);
  if (unreadable !== undefined) return <p className="text-sm text-warn">{visibleProse(unreadable)}</p>;
  switch (message.role) {
    case "user":
      return <UserText message={message} next={next} />;
    case "assistant":
      return <Answered message={message} />;
    case "summary":
      return <Summed message={message} />;
  }
}

function UserText({ message, next }: { readonly message: UserMessage; readonly next: string | undefined }) {
  const isPerson = message.author === "user";
  const { rest } = writtenIn(message);
  return (
    <div
      dir="auto"
      className={`rounded-2xl px-4 py-2.5 ${isPerson ? "ms-auto w-fit max-w-[85%] bg-sunken" : "border border-hair text-soft text-sm"}`}
    >
      <h2 className={isPerson ? "sr-only" : "font-medium text-xs"}>{AUTHORS[message.author]}</h2>
      {message.parts.map((part, index) => {
        if (part.type === "file") return <SaidFile key={index} file={part} />;
        if (isPerson && rest.includes(part)) return <AttachedText key={index} text={part.text} />;
        if (message.author === "tool") return <ToolReport key={index} report={part.text} />;
        return (
          part.text !== "" && (
            <p key={index} className="whitespace-pre-wrap [unicode-bidi:plaintext]">
              {visibleProse(part.text)}
            </p>
          )
        );
      })}
      {isPerson && <DeliveryNote message={message} next={next} />}
    </div>
  );
}

function ToolReport({ report }: { readonly report: string }) {
  const { text, problems } = toolReport(report);
  return (
    <>
      {(text !== "" || problems.length === 0) && (
        <p className="whitespace-pre-wrap [unicode-bidi:plaintext]">{visibleProse(text === "" ? report : text)}</p>
      )}
      <NewProblems lines={problems} />
    </>
  );
}

/** Shows the time at which a message joined a turn, and the next call (W37). */
function DeliveryNote({ message, next }: { readonly message: UserMessage; readonly next: string | undefined }) {
  const tree = useTree();
  const above = message.parentId === null ? undefined : tree?.messages.get(message.parentId);
  if (above?.role !== "assistant" || above.finish !== "calls") return null;
  const answer = next === undefined ? undefined : tree?.messages.get(next);
  const before = answer?.role === "assistant" ? answer.calls.slice(0, 1).map(toolNameOf)[0] : undefined;
  return (
    <p className="mt-1 text-soft text-xs">
      {before === undefined
        ? t("Delivered at {time}", { time: formatPageTime(message.createdAt, { timeStyle: "medium" }) })
        : t("Delivered at {time}, before {before}", {
            time: formatPageTime(message.createdAt, { timeStyle: "medium" }),
            before,
          })}
    </p>
  );
}

function Answered({ message }: { readonly message: AssistantMessage }) {
  const { parts, finish, error } = message;
  const isStreaming = finish === undefined;
  const { state } = useConversation();
  const isTold = state?.broken.has(message.id);
  const shortfall = describeShortfall(message, say);
  return (
    <div>
      <h2 className="sr-only">{t("The agent")}</h2>
      {parts.map((part, index) => {
        const isLast = isStreaming && index === parts.length - 1;
        switch (part.type) {
          case "text":
            return <Markdown key={index} text={part.text} isStreaming={isLast} />;
          case "reasoning":
            return <Reasoning key={index} text={part.text} isStreaming={isLast} />;
          case "call":
            // The first of several adjacent calls shows all of them.
            if (parts[index - 1]?.type === "call") return null;
            return <CallCards key={index} calls={callsFrom(message, index)} message={message.id} />;
          case "provider":
            return (
              <p key={index} className="text-soft text-sm">
                {part.text}
              </p>
            );
          default:
            return null;
        }
      })}
      {isStreaming && parts.length === 0 && <p className="text-soft text-sm">{t("Thinking …")}</p>}
      {finish === "interrupted" && !isTold && <p className="text-sm text-warn">{t("Interrupted.")}</p>}
      {shortfall !== undefined && <p className="text-sm text-warn">{visibleProse(shortfall)}</p>}
      {error !== undefined && !isTold && shortfall === undefined && <p className="text-bad text-sm">{error}</p>}
    </div>
  );
}

function callsFrom({ parts, calls }: AssistantMessage, from: number) {
  const end = parts.findIndex((part, index) => index > from && part.type !== "call");
  return parts
    .slice(from, end < 0 ? undefined : end)
    .flatMap((part) => (part.type === "call" ? calls.filter(({ id }) => id === part.call) : []));
}

function Summed({ message }: { readonly message: SummaryMessage }) {
  if (message.covers === undefined) return <p className="text-sm text-soft">{visibleProse(textOf(message))}</p>;
  return (
    <details className="rounded-lg border border-hair px-3 py-2 text-sm">
      <summary className="text-soft">
        {message.compaction
          ? compactedLine(message.compaction, say)
          : t("Conversation compacted. The model continues from this summary.")}
      </summary>
      <Markdown text={textOf(message)} isStreaming={false} />
    </details>
  );
}

function thoughtFor(isStreaming: boolean, seconds: number | undefined): string {
  if (seconds === undefined) return isStreaming ? t("Thinking") : t("Thought");
  const time = formatDuration(seconds * 1_000);
  return isStreaming ? t("Thinking for {time}", { time }) : t("Thought for {time}", { time });
}

function Reasoning({ text, isStreaming }: { readonly text: string; readonly isStreaming: boolean }) {
  const [since] = useState(() => performance.now());
  const [seconds, setSeconds] = useState<number>();
  const [kept, setKept] = usePreference("reasoning");
  const [isOpenNow, setOpenNow] = useState(true);
  const [isOpenAfter, setOpenAfter] = useState<boolean>();
  const isOpen = isStreaming ? isOpenNow : (isOpenAfter ?? kept === "open");
  useEffect(() => {
    if (!isStreaming) return;
    const timer = setInterval(() => setSeconds(Math.round((performance.now() - since) / 1000)), 250);
    return () => clearInterval(timer);
  }, [isStreaming, since]);
  const toggle = () => {
    if (isStreaming) return setOpenNow(!isOpen);
    setOpenAfter(!isOpen);
    setKept(isOpen ? "closed" : "open");
  };
  return (
    <section aria-label={t("Reasoning")} className="my-1.5 text-soft text-sm">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={toggle}
        className="inline-flex min-h-6 items-center gap-1 rounded-md hover:text-ink"
      >
        <Icon of={isOpen ? "open" : "fold"} />
        {thoughtFor(isStreaming, seconds)}
      </button>
      {isOpen && (
        <p className="whitespace-pre-wrap mt-1 [unicode-bidi:plaintext] border-hair border-s-2 ps-4">
          {visibleProse(text)}
        </p>
      )}
    </section>
  );
}
