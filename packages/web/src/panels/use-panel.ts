import { useNavigate, useSearch } from "@tanstack/react-router";
import { useSyncExternalStore } from "react";
import type { PanelName } from "./panel-names.ts";

/** Where there is room for three columns, the branches are shown until somebody wants something else. */
const ROOM = "(min-width: 80rem)";

/** The panel in view, and how another one is shown. The address carries it, so that it is there after a reload. */
export function usePanel(): {
  readonly panel: PanelName | undefined;
  readonly beside: string | undefined;
  readonly show: (panel: PanelName | undefined, beside?: string) => void;
} {
  const { panel: chosen, beside } = useSearch({ from: "/c/$conversation" });
  const navigate = useNavigate({ from: "/c/$conversation" });
  const hasRoom = useMedia(ROOM);
  const panel = chosen === "none" ? undefined : (chosen ?? (hasRoom ? "branches" : undefined));
  const show = (next: PanelName | undefined, other?: string) =>
    void navigate({
      search: (old) => ({ ...old, panel: next ?? (hasRoom ? "none" : undefined), beside: other }),
      hash: true,
      state: true,
      replace: true,
    });
  return { panel, beside, show };
}

function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (changed) => {
      const media = window.matchMedia(query);
      media.addEventListener("change", changed);
      return () => media.removeEventListener("change", changed);
    },
    () => window.matchMedia(query).matches,
  );
}
