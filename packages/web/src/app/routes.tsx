import { Suspense } from "react";
import { useLocationProperty } from "wouter/use-browser-location";
import { lazily } from "../parts/browser/lazily.ts";
import { currentView, usePageView } from "../parts/browser/navigation.tsx";
import { ConversationView } from "./conversations/new-conversation.tsx";
import { Welcome } from "./shell/welcome.tsx";

const Gallery = lazily(async () => ({ default: (await import("../parts/design/gallery.tsx")).Gallery }));

const WHILE_LOOKING = 500;

/** Preloads the conversation view: at once if the address names a conversation, otherwise before the user opens one. */
const ahead = () => {
  ConversationView.ahead().catch(() => {
    // Opening a conversation loads the view again and reports an error.
  });
};
if (currentView().conversation === undefined) setTimeout(ahead, WHILE_LOOKING);
else ahead();

/** The view for the page's address. */
export function InView() {
  const conversation = usePageView((view) => view.conversation);
  const leaf = usePageView((view) => view.leaf);
  const isWhole = usePageView(({ whole = false }) => whole);
  const isGallery = useLocationProperty(() => window.location.pathname === "/design");
  if (conversation === undefined && !isGallery) return <Welcome />;
  return (
    <Suspense fallback={null}>
      {conversation === undefined ? (
        <Gallery />
      ) : (
        <ConversationView key={conversation} id={conversation} leaf={leaf} isWhole={isWhole} />
      )}
    </Suspense>
  );
}
