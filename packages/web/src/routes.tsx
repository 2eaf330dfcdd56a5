import { createRootRoute, createRoute, createRouter, retainSearchParams } from "@tanstack/react-router";
import { Suspense } from "react";
import { type PanelSearch, panelSearch } from "./panels/panel-names.ts";
import { conversationIn, conversationParams } from "./shell/address.ts";
import { lazily } from "./shell/lazily.ts";
import { Shell } from "./shell/shell.tsx";
import { Welcome } from "./shell/welcome.tsx";

/** What an address says beside the conversation (W5): the end of the branch in view, and a panel. */
interface ConversationSearch extends PanelSearch {
  readonly leaf?: string;
  /** All messages of the branch are in the page. */
  readonly whole?: true;
}

const ConversationView = lazily(async () => ({
  default: (await import("./conversation/conversation-view.tsx")).ConversationView,
}));

/** Milliseconds after which nobody waits for what is loaded ahead. */
const WHILE_LOOKING = 500;

/** Loads what shows a conversation: at once where the address names one, and otherwise before somebody opens one. */
const ahead = () => {
  ConversationView.ahead().catch(() => {
    // Whoever opens one asks again, and is told.
  });
};
if (conversationIn(window.location.pathname) === undefined) setTimeout(ahead, WHILE_LOOKING);
else ahead();

const root = createRootRoute({ component: Shell });

const welcome = createRoute({ getParentRoute: () => root, path: "/", component: Welcome });

const conversation = createRoute({
  getParentRoute: () => root,
  path: "/c/$conversation",
  params: conversationParams,
  validateSearch: (search: Record<string, unknown>): ConversationSearch => ({
    ...panelSearch(search),
    ...(typeof search.leaf === "string" && search.leaf !== "" ? { leaf: search.leaf } : {}),
    ...(search.whole === true ? { whole: true } : {}),
  }),
  // A panel stays while branches change.
  search: { middlewares: [retainSearchParams(["panel"])] },
  component: function Conversation() {
    const { conversation: id } = conversation.useParams();
    const { leaf, whole = false } = conversation.useSearch();
    return (
      <Suspense fallback={null}>
        <ConversationView key={id} id={id} leaf={leaf} isWhole={whole} />
      </Suspense>
    );
  },
});

const Gallery = lazily(async () => ({ default: (await import("./design/gallery.tsx")).Gallery }));

/** What the page is made from, for whoever changes it (W79). */
const design = createRoute({
  getParentRoute: () => root,
  path: "/design",
  component: () => (
    <Suspense fallback={null}>
      <Gallery />
    </Suspense>
  ),
});

/** The addresses of the page. */
export const router = createRouter({
  routeTree: root.addChildren([welcome, conversation, design]),
  defaultPreload: false,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
