import { lastAnswer, pathTo } from "@banyan/core/conversation";
import { useConversation, useTree } from "../conversation/use-conversation.ts";
import { usePage } from "../page.ts";
import { PANELS, type PanelName } from "../panels/panel-names.ts";
import { usePanel } from "../panels/use-panel.ts";
import { focusOn } from "../shell/focus-on.ts";
import { type Action, useActions } from "./actions.tsx";

/** The keys that open a panel, or close it. */
const PANEL_KEYS: Readonly<Record<PanelName, string>> = {
  branches: "b",
  map: "m",
  changes: "c",
  compare: "o",
  usage: "u",
  context: "x",
  settings: "e",
};

const FORMATS = { json: "JSON", markdown: "Markdown", html: "HTML" } as const;

/** What can be done with the conversation in view. */
export function ConversationActions({ leaf }: { readonly leaf: string | null }) {
  const page = usePage();
  const { connection } = page;
  const { id: conversation } = useConversation();
  const tree = useTree();
  const { panel, show } = usePanel();
  const answer = tree && lastAnswer(pathTo(tree, leaf));
  const runs = tree?.runs.size ?? 0;
  const end = leaf === null ? undefined : tree?.messages.get(leaf);
  const actions: Action[] = [
    { name: "Write a message", keys: "i", run: () => focusOn("#composer") },
    ...(Object.keys(PANELS) as PanelName[]).map((name) => ({
      name: `Panel: ${PANELS[name]}`,
      keys: PANEL_KEYS[name],
      run: () => show(panel === name ? undefined : name),
    })),
  ];
  if (runs > 0) {
    const stop = () => page.told(connection.ask("run.interrupt", { conversation }));
    actions.push({ name: "Stop everything that runs here", keys: "Mod+.", run: stop });
  }
  if (tree && tree.questions.size > 0)
    actions.push({
      name: "Go to what waits for you",
      keys: "w",
      run: () => focusOn("[role=log] fieldset, [role=log] form textarea"),
    });
  if (answer && runs === 0) {
    const retry = () => page.told(connection.ask("turn.retry", { conversation, at: answer.id }));
    actions.push({ name: "Answer again", keys: "r", run: retry });
  }
  if (end) {
    const starred = end.starred !== true;
    actions.push({
      name: starred ? "Star this branch" : "Take the star of this branch away",
      run: () => page.told(connection.ask("message.star", { conversation, message: end.id, starred })),
    });
  }
  for (const [format, name] of Object.entries(FORMATS)) {
    const wanted = new URLSearchParams({ format, ...(leaf === null ? {} : { leaf }) });
    actions.push({
      name: `Export as ${name}`,
      run: () => window.location.assign(`/api/v1/conversations/${conversation}/export?${wanted}`),
    });
  }
  useActions(actions);
  return null;
}
