import { usePanel } from "./use-panel.ts";

/** Opens the panels, or closes them. */
export function PanelButton() {
  const { panel, show } = usePanel();
  return (
    <button
      type="button"
      aria-expanded={panel !== undefined}
      onClick={() => show(panel === undefined ? "branches" : undefined)}
      className="min-h-6 rounded border border-line px-2 py-0.5 text-xs hover:bg-sunken"
    >
      Panels
    </button>
  );
}
