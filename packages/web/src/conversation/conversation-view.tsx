import { useEffect, useRef, useState } from "react";
import { Composer } from "../composer/composer.tsx";
import { usePage } from "../page.ts";
import { Transcript } from "../transcript/transcript.tsx";
import { Outline } from "../tree/outline.tsx";
import { BreadCrumbs } from "./bread-crumbs.tsx";
import { ConversationHeader } from "./conversation-header.tsx";
import type { LiveConversation } from "./live-conversation.ts";
import { ConversationProvider, useConversation, useTree } from "./use-conversation.ts";

/** A conversation, followed as long as it is in view. */
export function ConversationView({ id, leaf }: { readonly id: string; readonly leaf: string | undefined }) {
  const page = usePage();
  const [conversation, setConversation] = useState<LiveConversation>();
  // The branch that is first in view comes whole; what other branches say is read when it is shown.
  const first = useRef(leaf);
  useEffect(() => {
    setConversation(page.follow(id, first.current));
    return () => page.leave(id);
  }, [page, id]);
  if (!conversation) return null;
  return (
    <ConversationProvider value={conversation}>
      <Standing leaf={leaf} />
    </ConversationProvider>
  );
}

function Standing({ leaf }: { readonly leaf: string | undefined }) {
  const conversation = useConversation();
  const tree = useTree();
  if (conversation.standing === "loading" || !tree) {
    return <p className="m-auto text-soft">{conversation.problem ?? "Loading the conversation …"}</p>;
  }
  const view = leaf !== undefined && tree.messages.has(leaf) ? leaf : tree.leaf;
  return (
    <>
      <ConversationHeader leaf={view} />
      <BreadCrumbs tree={tree} leaf={view} />
      {conversation.problem !== undefined && (
        <p role="alert" className="bg-bad-ground px-4 py-2 text-bad text-sm">
          {conversation.problem}
        </p>
      )}
      <div className="flex min-h-0 flex-1">
        <div className="flex min-w-0 flex-1 flex-col">
          <Transcript leaf={view} />
          <Composer leaf={view} />
        </div>
        <aside aria-label="Branches" className="hidden w-72 border-hair border-l xl:block">
          <Outline leaf={view} />
        </aside>
      </div>
    </>
  );
}
