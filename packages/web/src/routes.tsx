import { Suspense } from "react";
import { useLocationProperty } from "wouter/use-browser-location";
import { ConversationView } from "./conversations/new-conversation.tsx";
import { lazily } from "./shell/lazily.ts";
import { here, usePlace } from "./shell/navigation.tsx";
import { Welcome } from "./shell/welcome.tsx";

/** What the page is made from, for whoever changes it (W79). */
const Gallery = lazily(async () => ({ default: (await import("./design/gallery.tsx")).Gallery }));

/** Milliseconds after which nobody waits for what is loaded ahead. */
const WHILE_LOOKING = 500;

/** Loads what shows a conversation: at once where the address names one, and otherwise before somebody opens one. */
const ahead = () => {
  ConversationView.ahead().catch(() => {
    // Whoever opens one asks again, and is told.
  });
};
if (here().conversation === undefined) setTimeout(ahead, WHILE_LOOKING);
else ahead();

/** What the address of the page leads to. */
export function InView() {
  const conversation = usePlace((place) => place.conversation);
  const leaf = usePlace((place) => place.leaf);
  const isWhole = usePlace(({ whole = false }) => whole);
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
