import { itemSentence } from "@banyan/client/display";
import type { ConversationState } from "@banyan/core/conversation";
import { Suspense, useEffect, useState } from "react";
import { Composer } from "../../composer/composer.tsx";
import { WithPanels } from "../../panels/with-panels.tsx";
import { lazily } from "../../parts/browser/lazily.ts";
import type { PageConversation } from "../../parts/conversation/live-conversation.ts";
import { ConversationProvider, useConversation, useTree } from "../../parts/conversation/use-conversation.ts";
import { useShow, useView } from "../../parts/conversation/use-view.ts";
import { changesAhead } from "../../parts/diff/call-changes.tsx";
import { usePage, usePageState } from "../../parts/page/page.ts";
import { useMay } from "../../parts/page/use-may.ts";
import { say, t, tCount } from "../../parts/phrases/phrases.ts";
import { markdownAhead } from "../../transcript/markdown/markdown.tsx";
import { Transcript } from "../../transcript/transcript.tsx";
import { Announcer } from "./announcer.tsx";
import { BreadCrumbs } from "./bread-crumbs.tsx";
import { ConversationHeader } from "./conversation-header.tsx";
import { ToldNotes } from "./conversation-notes.tsx";
import { NarrowedRules } from "./narrowed-rules.tsx";
import { ProblemCard } from "./problem-card.tsx";

interface ShownBranch {
  readonly leaf: string | undefined;
  readonly isWhole: boolean;
}

const WholeBranch = lazily(async () => ({ default: (await import("./whole-branch.tsx")).WholeBranch }));

/** A conversation that the page follows while the user views it. */
export function ConversationView({ id, ...shown }: ShownBranch & { readonly id: string }) {
  const page = usePage();
  // The first branch in view arrives complete; messages of other branches are read when they are shown. A conversation that is
  // already followed appears at once, with its message box (W83).
  const [conversation] = useState(() => page.follow(id, shown.leaf));
  useEffect(() => () => page.leave(id), [page, id]);
  return (
    <ConversationProvider value={conversation}>
      <Standing {...shown} />
    </ConversationProvider>
  );
}

function Standing(shown: ShownBranch) {
  const conversation = useConversation();
  const tree = useTree();
  const canDraw = useCanDraw();
  if (tree) return <BranchColumn tree={tree} canDraw={canDraw} {...shown} />;
  return (
    <div className="m-auto w-full max-w-text p-4">
      {conversation.problem ? (
        <ProblemCard />
      ) : (
        <p role="status" className="text-center text-soft">
          {t("Loading the conversation …")}
        </p>
      )}
    </div>
  );
}

function BranchColumn({
  tree,
  canDraw,
  leaf,
  isWhole,
}: ShownBranch & { readonly tree: ConversationState; readonly canDraw: boolean }) {
  const conversation = useConversation();
  const view = useView(tree, leaf);
  useSeen(tree);
  return (
    <>
      <Announcer />
      <ConversationHeader leaf={view} />
      <BreadCrumbs tree={tree} leaf={view} />
      {conversation.problem && (
        <div className="px-4 py-2">
          <ProblemCard />
        </div>
      )}
      <UndoRemoval />
      {isWhole ? (
        <Suspense fallback={null}>
          <WholeBranch leaf={view} />
        </Suspense>
      ) : (
        <WithPanels leaf={view}>
          {canDraw ? <Transcript leaf={view} /> : <div className="min-h-0 flex-1" />}
          <NarrowedRules />
          <ToldNotes leaf={view} />
          <ModelWait leaf={view} />
          <Composer leaf={view} />
        </WithPanels>
      )}
    </>
  );
}

/** Milliseconds that messages wait for the renderers. On a slow connection, they appear as source first. */
const DRAWABLE = 1_500;

const drawing = Promise.all([markdownAhead(), changesAhead()]).catch(() => {
  // A missing renderer is reported where it is needed.
});

/**
 * Returns true when the message renderers are loaded. They load with the conversation: otherwise a message would change
 * its height later and move the next one under the pointer (W54).
 */
function useCanDraw(): boolean {
  const [canDraw, setCanDraw] = useState(false);
  useEffect(() => {
    const draw = () => setCanDraw(true);
    drawing.then(draw, draw);
    const timer = setTimeout(draw, DRAWABLE);
    return () => clearTimeout(timer);
  }, []);
  return canDraw;
}

/** Reports to the server that the user has seen the conversation, when it is visible and has unread turns (W47). */
function useSeen({ id }: ConversationState): void {
  const { connection } = usePage();
  const unread = usePageState(({ conversations }) => conversations?.find((listed) => listed.id === id)?.unread ?? 0);
  const mayTell = useMay()("conversation.seen");
  useEffect(() => {
    if (unread === 0 || !mayTell) return;
    const tell = () => {
      if (document.visibilityState !== "visible") return;
      connection.ask("conversation.seen", { conversation: id }).catch(() => {
        // The conversation stays unread; the next change tries again.
      });
    };
    tell();
    document.addEventListener("visibilitychange", tell);
    return () => document.removeEventListener("visibilitychange", tell);
  }, [connection, id, unread, mayTell]);
}

const TIME = 10_000;

function UndoRemoval() {
  const conversation = useConversation();
  const page = usePage();
  const { connection, store } = page;
  const show = useShow();
  const removed = usePageState((state) => state.removed);
  useEffect(() => {
    if (!removed) return;
    const timer = setTimeout(() => store.setState({ removed: undefined }), TIME);
    return () => clearTimeout(timer);
  }, [removed, store]);
  if (removed?.conversation !== conversation.id) return null;
  const { message, count } = removed;
  const undo = async () => {
    store.setState({ removed: undefined });
    await connection.ask("message.restore", { conversation: conversation.id, message });
    show(conversation.leafBelow(message));
  };
  return (
    <p role="status" className="flex items-center gap-3 bg-sunken px-4 py-1 text-sm">
      {tCount(count, "A message was removed.", "{count} messages were removed.")}
      <button type="button" onClick={() => page.told(undo())} className="min-h-6 text-leaf underline">
        {t("Undo")}
      </button>
    </p>
  );
}

function ModelWait({ leaf }: { readonly leaf: string | null }) {
  const conversation = useConversation();
  // Renders again when the reason changes.
  useTree();
  const { wait } = conversation;
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!wait) return undefined;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [wait]);
  if (!wait || !isInView(conversation, wait.run, leaf)) return null;
  return (
    <p role="status" aria-live="off" className="mx-auto w-full max-w-text px-4 pb-1 text-soft text-sm">
      {itemSentence(
        wait.type === "model.waiting"
          ? wait
          : { ...wait, delay: Math.max(0, Math.ceil((wait.nextAt - now) / 1_000) * 1_000) },
        say,
      )}
    </p>
  );
}

function isInView(conversation: PageConversation, run: string, leaf: string | null): boolean {
  const at = conversation.state?.runs.get(run)?.leaf;
  return at !== undefined && (at === null || conversation.path(leaf).includes(at));
}
