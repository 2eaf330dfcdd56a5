import { focusOn } from "../parts/browser/focus-on.ts";
import { downloadExport, FORMATS } from "../parts/conversation/export-file.ts";
import { openRuns } from "../parts/conversation/live-conversation.ts";
import { useConversation, useTree } from "../parts/conversation/use-conversation.ts";
import { type PaletteAction, useActions } from "../parts/page/actions.tsx";
import { usePage } from "../parts/page/page.ts";
import { PANELS, type PanelName } from "../parts/page/panel-names.ts";
import { t } from "../parts/phrases/phrases.ts";
import { PANEL_ACTIONS, useReading, useSlashActions } from "./slash-actions.ts";
import { usePanel } from "./use-panel.ts";

const PANEL_KEYS: Readonly<Record<PanelName, string>> = {
  branches: "Alt+B",
  map: "Alt+M",
  changes: "Alt+C",
  compare: "Alt+O",
  findings: "Alt+G",
  artifact: "Alt+R",
  plan: "Alt+P",
  background: "Alt+K",
  agents: "Alt+T",
  usage: "Alt+U",
  context: "Alt+X",
  memory: "Alt+Y",
  hooks: "Alt+H",
  servers: "Alt+V",
  settings: "Alt+E",
};

export function ConversationActions({ leaf }: { readonly leaf: string | null }) {
  const page = usePage();
  const { connection } = page;
  const { id: conversation } = useConversation();
  const tree = useTree();
  const { panel, all, show } = usePanel();
  const more = useSlashActions(tree, leaf);
  const read = useReading(tree, leaf);
  const runs = tree ? openRuns(tree).length : 0;
  const end = leaf === null ? undefined : tree?.messages.get(leaf);
  const actions: PaletteAction[] = [
    { name: t("Write a message"), keys: "Alt+I", takes: "turn.say", run: () => focusOn("#composer") },
    ...all.map((name) => ({
      name: t("Panel: {panel}", { panel: PANELS[name] }),
      keys: PANEL_KEYS[name],
      run: () => show(panel === name ? undefined : name),
    })),
    ...all.flatMap((name) => {
      const slash = PANEL_ACTIONS[name];
      return slash === undefined ? [] : [{ slash, run: (argument = "") => read(slash, argument) }];
    }),
  ];
  if (runs > 0) {
    const stop = () => page.told(connection.ask("run.interrupt", { conversation }));
    actions.push({ name: t("Stop everything in this conversation"), keys: "Mod+.", takes: "run.interrupt", run: stop });
  }
  if (tree && tree.questions.size > 0)
    actions.push({
      name: t("Go to the question that needs your answer"),
      keys: "Alt+W",
      takes: "question.answer",
      run: () => focusOn("[role=log] fieldset, [role=log] form textarea, #limit"),
    });
  if (end) {
    const starred = end.starred !== true;
    actions.push({ slash: "star", takes: "message.star", run: (argument = "") => read("star", argument) });
    actions.push({
      name: starred ? t("Star this branch") : t("Unstar this branch"),
      takes: "message.star",
      run: () => page.told(connection.ask("message.star", { conversation, message: end.id, starred })),
    });
  }
  for (const { format, name } of FORMATS) {
    const wanted = { conversation, format, ...(leaf === null ? {} : { leaf }) };
    actions.push({
      name: t("Export as {name}", { name }),
      run: () => page.told(downloadExport(page, wanted)),
    });
  }
  useActions([...actions, ...more]);
  return null;
}
