import type { CommandName } from "@banyan/protocol";
import { correct, currentView, usePageView } from "../parts/browser/navigation.tsx";
import { PANELS, type PanelName } from "../parts/page/panel-names.ts";
import { useMedia, usePreference } from "../parts/page/preferences.ts";
import { useMay } from "../parts/page/use-may.ts";

/** With room for three columns, the user's last panel stays open; at first there is none (W72). */
const ROOM = "(min-width: 80rem)";

/** The command that a panel needs: users who may not send it do not see the panel. */
const PANEL_TAKES: Readonly<Partial<Record<PanelName, CommandName>>> = {
  context: "context.read",
  hooks: "equipment.read",
  servers: "equipment.read",
  settings: "approval.use",
};

/** Returns the current panel, and a function to change it. The address contains the panel, so a reload keeps it. */
export function usePanel(): {
  readonly panel: PanelName | undefined;
  readonly all: readonly PanelName[];
  readonly beside: string | undefined;
  readonly show: (panel: PanelName | undefined, beside?: string) => void;
} {
  const chosen = usePageView((view) => view.panel);
  const beside = usePageView((view) => view.beside);
  const hasRoom = useMedia(ROOM);
  const [last, setLast] = usePreference("panel");
  const may = useMay();
  const all = (Object.keys(PANELS) as PanelName[]).filter((name) => {
    const takes = PANEL_TAKES[name];
    return takes === undefined || may(takes);
  });
  // The address may come from a user with more rights.
  const wanted = chosen === undefined || chosen === "none" || all.includes(chosen) ? chosen : undefined;
  const usual = hasRoom && last !== "none" && all.includes(last) ? last : undefined;
  const panel = wanted === "none" ? undefined : (wanted ?? usual);
  const show = (next: PanelName | undefined, other?: string) => {
    setLast(next ?? "none");
    correct({ ...currentView(), panel: next, beside: other });
  };
  return { panel, all, beside, show };
}
