import { createRootRoute, createRoute, createRouter } from "@tanstack/react-router";
import { ConversationView } from "./conversation/conversation-view.tsx";
import { Shell } from "./shell/shell.tsx";
import { Welcome } from "./shell/welcome.tsx";

/** What an address says beside the conversation (W5): the end of the branch in view. */
interface ConversationSearch {
  readonly leaf?: string;
}

const root = createRootRoute({ component: Shell });

const welcome = createRoute({ getParentRoute: () => root, path: "/", component: Welcome });

const conversation = createRoute({
  getParentRoute: () => root,
  path: "/c/$conversation",
  validateSearch: ({ leaf }: Record<string, unknown>): ConversationSearch =>
    typeof leaf === "string" && leaf !== "" ? { leaf } : {},
  component: function Conversation() {
    const { conversation: id } = conversation.useParams();
    const { leaf } = conversation.useSearch();
    return <ConversationView key={id} id={id} leaf={leaf} />;
  },
});

/** The addresses of the page. */
export const router = createRouter({ routeTree: root.addChildren([welcome, conversation]), defaultPreload: false });

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
