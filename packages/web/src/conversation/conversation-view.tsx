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
import { ModelWait } from "./model-wait.tsx";
import { ToldNotes } from "./told-notes.tsx";
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
  if (tree) return <Branch tree={tree} {...shown} />;
  return (
    <div className="m-auto flex flex-col items-center gap-3 p-4 text-center text-soft">
      <p role="status">{conversation.problem ?? "Loading the conversation …"}</p>
      {conversation.problem !== undefined && conversation.standing !== "removed" && <TryAgain />}
    </div>
  );
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
        <p role="alert" className="flex flex-wrap items-center gap-3 bg-bad-ground px-4 py-2 text-bad text-sm">
          {conversation.problem}
          {conversation.standing !== "removed" && <TryAgain />}
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
          <ToldNotes leaf={view} />
          <ModelWait leaf={view} />
          <Composer leaf={view} />
        </WithPanels>
      )}
    </>
  );
}

/** Another program may have let go of the conversation meanwhile. */
function TryAgain() {
  const conversation = useConversation();
  return (
    <button
      type="button"
      onClick={() => conversation.again()}
      className="min-h-6 rounded border border-line px-2 py-0.5 text-ink text-sm hover:bg-sunken"
    >
      Try again
    </button>
  );
}
