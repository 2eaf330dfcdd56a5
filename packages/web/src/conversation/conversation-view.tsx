import type { ConversationState } from "@banyan/core/conversation";
import { useEffect, useRef, useState } from "react";
import { Composer } from "../composer/composer.tsx";
import { usePage } from "../page.ts";
import { WithPanels } from "../panels/with-panels.tsx";
import { Transcript } from "../transcript/transcript.tsx";
import { Announcer } from "./announcer.tsx";
import { BreadCrumbs } from "./bread-crumbs.tsx";
import { ConversationHeader } from "./conversation-header.tsx";
import type { LiveConversation } from "./live-conversation.ts";
import { UndoRemoval } from "./undo-removal.tsx";
import { ConversationProvider, useConversation, useTree } from "./use-conversation.ts";
import { useSeen } from "./use-seen.ts";
import { useView } from "./use-view.ts";

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
    return (
      <p role="status" className="m-auto p-4 text-soft">
        {conversation.problem ?? "Loading the conversation …"}
      </p>
    );
  }
  return <Branch tree={tree} leaf={leaf} />;
}

function Branch({ tree, leaf }: { readonly tree: ConversationState; readonly leaf: string | undefined }) {
  const conversation = useConversation();
  const view = useView(tree, leaf);
  useSeen(tree);
  return (
    <>
      <Announcer />
      <ConversationHeader leaf={view} />
      <BreadCrumbs tree={tree} leaf={view} />
      {conversation.problem !== undefined && (
        <p role="alert" className="bg-bad-ground px-4 py-2 text-bad text-sm">
          {conversation.problem}
        </p>
      )}
      <UndoRemoval />
      <WithPanels leaf={view}>
        <Transcript leaf={view} />
        <Composer leaf={view} />
      </WithPanels>
    </>
  );
}
