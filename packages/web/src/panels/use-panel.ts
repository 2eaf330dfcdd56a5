import { useNavigate, useSearch } from "@tanstack/react-router";
import { usePreference } from "../shell/preferences.ts";
import { useMedia } from "../shell/use-media.ts";
import { useMay } from "../use-may.ts";
import { PANEL_TAKES, PANELS, type PanelName } from "./panel-names.ts";

/** Where there is room for three columns, the panel that a person had last stays; at first there is none (W72). */
const ROOM = "(min-width: 80rem)";

/** The panel in view, and how another one is shown. The address carries it, so that it is there after a reload. */
export function usePanel(): {
  readonly panel: PanelName | undefined;
  /** Those that this person may see. */
  readonly all: readonly PanelName[];
  readonly beside: string | undefined;
  readonly show: (panel: PanelName | undefined, beside?: string) => void;
} {
  const { panel: chosen, beside } = useSearch({ from: "/c/$conversation" });
  const navigate = useNavigate({ from: "/c/$conversation" });
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
    navigate({
      search: (old) => ({ ...old, panel: next, beside: other }),
      hash: true,
      state: true,
      replace: true,
      // Another navigation has overtaken it: that one is shown.
    }).catch(() => {});
  };
  return { panel, all, beside, show };
}
