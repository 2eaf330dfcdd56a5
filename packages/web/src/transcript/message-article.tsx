import type { AssistantMessage, Message, SummaryMessage, UserMessage } from "@banyan/core/conversation";
import { textOf } from "@banyan/core/conversation";
import { useConversation, useMessage } from "../conversation/use-conversation.ts";
import { costInWords, tokensInWords } from "../shell/amounts.ts";
import { CallCard } from "./call-card.tsx";
import { Markdown } from "./markdown.tsx";
import { MessageActions } from "./message-actions.tsx";
import { Reasoning } from "./reasoning.tsx";

/** A message of the branch in view: its place among those of the branch is told to screen readers. */
export function MessageArticle({
  id,
  place,
  of,
}: {
  readonly id: string;
  readonly place: number;
  readonly of: number;
}) {
  const conversation = useConversation();
  const { message } = useMessage(id);
  const words = conversation.outline(id)?.words;
  return (
    <article id={`m-${id}`} tabIndex={-1} aria-posinset={place} aria-setsize={of} className="group rounded-lg">
      {message ? <Body message={message} /> : <p className="text-soft text-sm">{words ?? "…"}</p>}
      {message && <MessageActions message={message} />}
    </article>
  );
}

function Body({ message }: { readonly message: Message }) {
  switch (message.role) {
    case "user":
      return <Said message={message} />;
    case "assistant":
      return <Answered message={message} />;
    case "summary":
      return <Summed message={message} />;
  }
}

const AUTHORS = { user: "You", tool: "A tool", system: "Banyan" } as const;

function Said({ message }: { readonly message: UserMessage }) {
  const isPerson = message.author === "user";
  return (
    <div className={`rounded-lg px-3 py-2 ${isPerson ? "bg-leaf-ground" : "border border-hair text-soft text-sm"}`}>
      <h2 className={isPerson ? "sr-only" : "font-medium text-xs"}>{AUTHORS[message.author]}</h2>
      {message.parts.map((part, index) =>
        part.type === "text" ? (
          <p key={index} className="whitespace-pre-wrap">
            {part.text}
          </p>
        ) : (
          <p key={index} className="text-sm">
            📎 {part.name ?? part.mediaType}
          </p>
        ),
      )}
    </div>
  );
}

function Answered({ message }: { readonly message: AssistantMessage }) {
  const { parts, calls, finish, error, model, usage, cost } = message;
  const isStreaming = finish === undefined;
  return (
    <div>
      <h2 className="sr-only">The agent</h2>
      {parts.map((part, index) => {
        const isLast = isStreaming && index === parts.length - 1;
        switch (part.type) {
          case "text":
            return <Markdown key={index} text={part.text} isStreaming={isLast} />;
          case "reasoning":
            return <Reasoning key={index} text={part.text} isStreaming={isLast} />;
          case "call": {
            const call = calls.find(({ id }) => id === part.call);
            return call ? <CallCard key={part.call} call={call} message={message.id} /> : null;
          }
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
      {isStreaming && parts.length === 0 && <p className="text-soft text-sm">Thinking …</p>}
      {finish === "interrupted" && <p className="text-sm text-warn">Interrupted.</p>}
      {error !== undefined && <p className="text-bad text-sm">{error}</p>}
      {usage && (
        <p className="mt-1 text-soft text-xs">
          {model} · {tokensInWords(usage)} · {costInWords(cost)}
        </p>
      )}
    </div>
  );
}

function Summed({ message }: { readonly message: SummaryMessage }) {
  return (
    <details className="rounded-lg border border-hair px-3 py-2 text-sm">
      <summary className="text-soft">The conversation was summed up here; the model goes on from this summary.</summary>
      <Markdown text={textOf(message)} isStreaming={false} />
    </details>
  );
}
