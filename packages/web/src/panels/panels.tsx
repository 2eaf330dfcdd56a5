import { Suspense } from "react";
import { lazily } from "../shell/lazily.ts";
import { TreePanel } from "../tree/tree-panel.tsx";
import { PANELS, type PanelName } from "./panel-names.ts";
import { usePanel } from "./use-panel.ts";

const ChangesPanel = lazily(async () => ({ default: (await import("./changes-panel.tsx")).ChangesPanel }));
const ComparePanel = lazily(async () => ({ default: (await import("./compare-panel.tsx")).ComparePanel }));
const UsagePanel = lazily(async () => ({ default: (await import("./usage-panel.tsx")).UsagePanel }));
const ContextPanel = lazily(async () => ({ default: (await import("./context-panel.tsx")).ContextPanel }));
const SettingsPanel = lazily(async () => ({ default: (await import("./settings-panel.tsx")).SettingsPanel }));

/** What stands beside the conversation, where there is no room for both in its place; and the way to the others. */
export function Panels({ panel, leaf }: { readonly panel: PanelName; readonly leaf: string | null }) {
  const { all, beside, show } = usePanel();
  return (
    <>
      <div className="flex items-start gap-1 border-hair border-b bg-raised p-1">
        <nav aria-label="Panels" className="flex flex-1 flex-wrap">
          {all.map((name) => (
            <button
              key={name}
              type="button"
              aria-current={name === panel ? "true" : undefined}
              onClick={() => show(name)}
              className="min-h-7 rounded px-2 text-soft text-xs hover:bg-sunken aria-[current]:bg-leaf-ground aria-[current]:text-ink"
            >
              {PANELS[name]}
            </button>
          ))}
        </nav>
        <button
          type="button"
          aria-label="Close the panel"
          onClick={() => show(undefined)}
          className="size-7 shrink-0 rounded hover:bg-sunken"
        >
          ✕
        </button>
      </div>
      <Suspense fallback={<p className="p-3 text-sm text-soft">Loading …</p>}>
        {(panel === "branches" || panel === "map") && <TreePanel leaf={leaf} isMap={panel === "map"} />}
        {panel === "changes" && (
          <ChangesPanel leaf={beside ?? leaf} isOther={beside !== undefined && beside !== leaf} />
        )}
        {panel === "compare" && <ComparePanel leaf={leaf} beside={beside} />}
        {panel === "usage" && <UsagePanel leaf={leaf} />}
        {panel === "context" && <ContextPanel leaf={leaf} />}
        {panel === "settings" && <SettingsPanel />}
      </Suspense>
    </>
  );
}
