import { type Message, newestLeaf, siblings, textOf } from "@banyan/core/conversation";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useConversation, useTree } from "../conversation/use-conversation.ts";
import { usePage } from "../page.ts";

/** What can be done about a message: its other versions, another answer, another wording, a branch from here. */
export function MessageActions({ message }: { readonly message: Message }) {
  const conversation = useConversation();
  const { connection } = usePage();
  const tree = useTree();
  const navigate = useNavigate();
  const [draft, setDraft] = useState<string>();
  if (!tree) return null;
  const show = (leaf: string) =>
    navigate({ to: "/c/$conversation", params: { conversation: conversation.id }, search: { leaf } });
  const versions = siblings(tree, message.id);
  const place = versions.indexOf(message.id);
  const go = (to: string | undefined) => {
    if (to !== undefined) void show(newestLeaf(tree, to));
  };
  const retry = async (text?: string) => {
    setDraft(undefined);
    const parts = text === undefined ? {} : { parts: [{ type: "text", text } as const] };
    await connection.ask("turn.retry", { conversation: conversation.id, at: message.id, ...parts });
  };
  return (
    <div className="flex flex-wrap items-center gap-1 text-soft text-xs">
      {versions.length > 1 && (
        <span className="flex items-center">
          <Small
            name={`Previous version of this message, ${place + 1} of ${versions.length}`}
            disabled={place === 0}
            onClick={() => go(versions[place - 1])}
          >
            ‹
          </Small>
          <span aria-hidden="true">
            {place + 1}/{versions.length}
          </span>
          <Small
            name={`Next version of this message, ${place + 1} of ${versions.length}`}
            disabled={place === versions.length - 1}
            onClick={() => go(versions[place + 1])}
          >
            ›
          </Small>
        </span>
      )}
      <span className="flex gap-1 opacity-0 focus-within:opacity-100 group-hover:opacity-100">
        <Small name="Continue from here" onClick={() => void show(message.id)}>
          Continue from here
        </Small>
        {message.role === "assistant" && (
          <Small name="Answer again" onClick={() => void retry()}>
            Retry
          </Small>
        )}
        {message.role === "user" && message.author === "user" && (
          <Small name="Say it in other words" onClick={() => setDraft(textOf(message))}>
            Edit
          </Small>
        )}
        <Small name="Copy the text" onClick={() => void navigator.clipboard.writeText(textOf(message))}>
          Copy
        </Small>
        <Small
          name={message.starred ? "Take the star away" : "Star this message"}
          onClick={() =>
            void connection.ask("message.star", {
              conversation: conversation.id,
              message: message.id,
              starred: !message.starred,
            })
          }
        >
          {message.starred ? "★" : "☆"}
        </Small>
      </span>
      {draft !== undefined && (
        <form
          className="flex w-full flex-col gap-1"
          onSubmit={(event) => {
            event.preventDefault();
            void retry(draft);
          }}
        >
          <textarea
            aria-label="The message in other words"
            value={draft}
            onChange={({ target }) => setDraft(target.value)}
            className="w-full rounded border border-line bg-ground p-2 text-ink text-sm"
          />
          <span className="flex gap-1">
            <button type="submit" className="rounded border border-line px-2 py-1">
              Send as a new version
            </button>
            <button type="button" onClick={() => setDraft(undefined)} className="rounded border border-line px-2 py-1">
              Leave it
            </button>
          </span>
        </form>
      )}
    </div>
  );
}

function Small({
  name,
  children,
  onClick,
  disabled = false,
}: {
  readonly name: string;
  readonly children: React.ReactNode;
  readonly onClick: () => void;
  readonly disabled?: boolean;
}) {
  return (
    <button
      type="button"
      aria-label={name}
      disabled={disabled}
      onClick={onClick}
      className="min-h-6 min-w-6 rounded px-1 hover:bg-sunken hover:text-ink disabled:opacity-40"
    >
      {children}
    </button>
  );
}
