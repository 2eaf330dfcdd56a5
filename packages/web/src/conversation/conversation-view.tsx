import type { ConversationState } from "@banyan/core/conversation";
import { Suspense, useEffect, useRef, useState } from "react";
import { Composer } from "../composer/composer.tsx";
import { usePage } from "../page.ts";
import { WithPanels } from "../panels/with-panels.tsx";
import { lazily } from "../shell/lazily.ts";
import { Transcript } from "../transcript/transcript.tsx";
import { Announcer } from "./announcer.tsx";
import { BreadCrumbs } from "./bread-crumbs.tsx";
import { ConversationHeader } from "./conversation-header.tsx";
import type { LiveConversation } from "./live-conversation.ts";
import { UndoRemoval } from "./undo-removal.tsx";
import { ConversationProvider, useConversation, useTree } from "./use-conversation.ts";
import { useSeen } from "./use-seen.ts";
import { useView } from "./use-view.ts";

interface Shown {
  readonly leaf: string | undefined;
  /** All messages of the branch, instead of those in sight and a place to write. */
  readonly isWhole: boolean;
}

const WholeBranch = lazily(async () => ({ default: (await import("./whole-branch.tsx")).WholeBranch }));

/** A conversation, followed as long as it is in view. */
export function ConversationView({ id, ...shown }: Shown & { readonly id: string }) {
  const page = usePage();
  const [conversation, setConversation] = useState<LiveConversation>();
  // The branch that is first in view comes whole; what other branches say is read when it is shown.
  const first = useRef(shown.leaf);
  useEffect(() => {
    setConversation(page.follow(id, first.current));
    return () => page.leave(id);
  }, [page, id]);
  if (!conversation) return null;
  return (
    <ConversationProvider value={conversation}>
      <Standing {...shown} />
    </ConversationProvider>
  );
}

function Standing(shown: Shown) {
  const conversation = useConversation();
  const tree = useTree();
  if (conversation.standing === "loading" || !tree) {
    return (
      <p role="status" className="m-auto p-4 text-soft">
        {conversation.problem ?? "Loading the conversation …"}
      </p>
    );
  }
  return <Branch tree={tree} {...shown} />;
}

function Branch({ tree, leaf, isWhole }: Shown & { readonly tree: ConversationState }) {
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
      {isWhole ? (
        <Suspense fallback={null}>
          <WholeBranch leaf={view} />
        </Suspense>
      ) : (
        <WithPanels leaf={view}>
          <Transcript leaf={view} />
          <Composer leaf={view} />
        </WithPanels>
      )}
    </>
  );
}
