import { type ReactNode, Suspense, useState } from "react";
import { lazily } from "../parts/browser/lazily.ts";
import { PANELS, type PanelName } from "../parts/page/panel-names.ts";
import type { Artifact } from "../transcript/artifacts/artifact.ts";
import { ArtifactPlace } from "../transcript/artifacts/open-artifact.ts";
import { ConversationActions } from "./conversation-actions.tsx";
import { usePanel } from "./use-panel.ts";

const Panels = lazily(async () => ({ default: (await import("./panels.tsx")).Panels }));
const LeftBranchNotice = lazily(async () => ({ default: (await import("./left-branch-notice.tsx")).LeftBranchNotice }));

const WIDE: ReadonlySet<PanelName> = new Set(["map", "changes", "compare", "artifact"]);

/** A conversation with its panel next to it; on a narrow screen, the panel replaces the conversation. */
export function WithPanels({ leaf, children }: { readonly leaf: string | null; readonly children: ReactNode }) {
  const { panel, show } = usePanel();
  const [opened, setOpened] = useState<Artifact>();
  const open = (artifact: Artifact) => {
    setOpened(artifact);
    show("artifact");
  };
  return (
    <div className="flex min-h-0 flex-1">
      <ConversationActions leaf={leaf} />
      <div className={`flex min-w-0 flex-1 flex-col ${panel === undefined ? "" : "max-lg:hidden"}`}>
        <Suspense fallback={null}>
          <LeftBranchNotice leaf={leaf} />
        </Suspense>
        <ArtifactPlace value={open}>{children}</ArtifactPlace>
      </div>
      {panel !== undefined && (
        // Reserve the panel's space before it loads, so that nothing moves under the pointer.
        <aside
          aria-label={PANELS[panel]}
          className={`flex w-full min-w-0 shrink-0 flex-col border-hair short:overflow-y-auto lg:flex-row lg:border-s ${WIDE.has(panel) ? "lg:w-[55%] lg:max-w-4xl" : "lg:w-92"}`}
        >
          <Suspense fallback={null}>
            <Panels panel={panel} leaf={leaf} opened={opened} />
          </Suspense>
        </aside>
      )}
    </div>
  );
}
