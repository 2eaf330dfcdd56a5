import { type ReactNode, Suspense } from "react";
import { ConversationActions } from "../palette/conversation-actions.tsx";
import { lazily } from "../shell/lazily.ts";
import { usePanel } from "./use-panel.ts";

const Panels = lazily(async () => ({ default: (await import("./panels.tsx")).Panels }));
const LeftBranchNotice = lazily(async () => ({ default: (await import("./left-branch-notice.tsx")).LeftBranchNotice }));

/** A conversation with its panel beside it; on a narrow screen the panel stands in its place. */
export function WithPanels({ leaf, children }: { readonly leaf: string | null; readonly children: ReactNode }) {
  const { panel } = usePanel();
  return (
    <div className="flex min-h-0 flex-1">
      <ConversationActions leaf={leaf} />
      <div className={`flex min-w-0 flex-1 flex-col ${panel === undefined ? "" : "max-lg:hidden"}`}>
        <Suspense fallback={null}>
          <LeftBranchNotice leaf={leaf} />
        </Suspense>
        {children}
      </div>
      {panel !== undefined && (
        <Suspense fallback={null}>
          <Panels leaf={leaf} />
        </Suspense>
      )}
    </div>
  );
}
