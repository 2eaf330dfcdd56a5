import type { CommandName } from "@banyan/protocol";
import { correct, here, usePlace } from "../shell/navigation.tsx";
import { useMedia, usePreference } from "../shell/preferences.ts";
import { useMay } from "../use-may.ts";
import { PANELS, type PanelName } from "./panel-names.ts";

/** Where there is room for three columns, the panel that a person had last stays; at first there is none (W72). */
const ROOM = "(min-width: 80rem)";

/** The command without which a panel has nothing to show: who may not does not see it. */
const PANEL_TAKES: Readonly<Partial<Record<PanelName, CommandName>>> = {
  context: "context.read",
  hooks: "equipment.read",
  servers: "equipment.read",
  settings: "approval.use",
};

/** The panel in view, and how another one is shown. The address carries it, so that it is there after a reload. */
export function usePanel(): {
  readonly panel: PanelName | undefined;
  /** Those that this person may see. */
  readonly all: readonly PanelName[];
  readonly beside: string | undefined;
  readonly show: (panel: PanelName | undefined, beside?: string) => void;
} {
  const chosen = usePlace((place) => place.panel);
  const beside = usePlace((place) => place.beside);
  const hasRoom = useMedia(ROOM);
  const [last, setLast] = usePreference("panel");
  const may = useMay();
  const all = (Object.keys(PANELS) as PanelName[]).filter((name) => {
    const takes = PANEL_TAKES[name];
    return takes === undefined || may(takes);
  });
  // An address may come from somebody who may see more.
  const wanted = chosen === undefined || chosen === "none" || all.includes(chosen) ? chosen : undefined;
  const usual = hasRoom && last !== "none" && all.includes(last) ? last : undefined;
  const panel = wanted === "none" ? undefined : (wanted ?? usual);
  const show = (next: PanelName | undefined, other?: string) => {
    setLast(next ?? "none");
    correct({ ...here(), panel: next, beside: other });
  };
  return { panel, all, beside, show };
}
