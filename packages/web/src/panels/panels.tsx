import { Suspense } from "react";
import { lazily } from "../parts/browser/lazily.ts";
import { IconButton } from "../parts/design/button.tsx";
import { SafePart } from "../parts/design/notice.tsx";
import { PANELS, type PanelName } from "../parts/page/panel-names.ts";
import { t } from "../parts/phrases/phrases.ts";
import type { Artifact } from "../transcript/artifacts/artifact.ts";
import { TreePanel } from "./tree/tree-panel.tsx";
import { usePanel } from "./use-panel.ts";

const ChangesPanel = lazily(async () => ({ default: (await import("./changes-panel.tsx")).ChangesPanel }));
const ComparePanel = lazily(async () => ({ default: (await import("./compare-panel.tsx")).ComparePanel }));
const ArtifactPanel = lazily(async () => ({
  default: (await import("./artifact-panel.tsx")).ArtifactPanel,
}));
const FindingsPanel = lazily(async () => ({ default: (await import("./findings-panel.tsx")).FindingsPanel }));
const PlanPanel = lazily(async () => ({ default: (await import("./work-panels.tsx")).PlanPanel }));
const BackgroundPanel = lazily(async () => ({ default: (await import("./work-panels.tsx")).BackgroundPanel }));
const AgentsPanel = lazily(async () => ({ default: (await import("./work-panels.tsx")).AgentsPanel }));
const MemoryPanel = lazily(async () => ({ default: (await import("./equipment-panels.tsx")).MemoryPanel }));
const HooksPanel = lazily(async () => ({ default: (await import("./equipment-panels.tsx")).HooksPanel }));
const ServersPanel = lazily(async () => ({ default: (await import("./equipment-panels.tsx")).ServersPanel }));
const UsagePanel = lazily(async () => ({ default: (await import("./usage-panel.tsx")).UsagePanel }));
const ContextPanel = lazily(async () => ({ default: (await import("./context-panel.tsx")).ContextPanel }));
const SettingsPanel = lazily(async () => ({ default: (await import("./settings-panel.tsx")).SettingsPanel }));

/** The current panel, with buttons for the others. On a narrow screen, it replaces the conversation. */
export function Panels({
  panel,
  leaf,
  opened,
}: {
  readonly panel: PanelName;
  readonly leaf: string | null;
  readonly opened: Artifact | undefined;
}) {
  const { all, beside, show } = usePanel();
  return (
    <>
      <nav
        aria-label={t("Panels")}
        className="flex shrink-0 gap-0.5 border-hair bg-raised p-1.5 max-lg:flex-wrap max-lg:border-b max-lg:short:flex-nowrap max-lg:short:overflow-x-auto lg:overflow-y-auto lg:order-last lg:flex-col lg:border-s"
      >
        {all.map((name) => (
          <IconButton
            key={name}
            name={PANELS[name]}
            icon={name}
            aria-current={name === panel ? "true" : undefined}
            onClick={() => show(name)}
          />
        ))}
      </nav>
      {/* On a low screen, the whole panel scrolls, so that its content still has room. */}
      <div className="flex min-h-0 min-w-0 flex-1 flex-col short:min-h-80">
        <div className="flex min-h-11 items-center justify-between border-hair border-b py-1 pe-1.5 ps-3">
          <h2 className="font-semibold text-sm">{PANELS[panel]}</h2>
          <IconButton name={t("Close the panel")} icon="close" onClick={() => show(undefined)} />
        </div>
        <SafePart of={panel}>
          <Suspense fallback={<p className="p-3 text-sm text-soft">{t("Loading …")}</p>}>
            {(panel === "branches" || panel === "map") && <TreePanel leaf={leaf} isMap={panel === "map"} />}
            {panel === "changes" && (
              <ChangesPanel leaf={beside ?? leaf} isOther={beside !== undefined && beside !== leaf} />
            )}
            {panel === "compare" && <ComparePanel leaf={leaf} beside={beside} />}
            {panel === "findings" && <FindingsPanel leaf={leaf} />}
            {panel === "artifact" && <ArtifactPanel leaf={leaf} opened={opened} />}
            {panel === "plan" && <PlanPanel leaf={leaf} />}
            {panel === "background" && <BackgroundPanel />}
            {panel === "agents" && <AgentsPanel />}
            {panel === "memory" && <MemoryPanel leaf={leaf} />}
            {panel === "hooks" && <HooksPanel />}
            {panel === "servers" && <ServersPanel />}
            {panel === "usage" && <UsagePanel leaf={leaf} />}
            {panel === "context" && <ContextPanel leaf={leaf} />}
            {panel === "settings" && <SettingsPanel />}
          </Suspense>
        </SafePart>
      </div>
    </>
  );
}
