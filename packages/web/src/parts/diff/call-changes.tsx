import type { Call } from "@banyan/core/conversation";
import { Suspense, useMemo } from "react";
import { lazily } from "../browser/lazily.ts";
import { t } from "../phrases/phrases.ts";
import { growingChange, madeChange } from "./shown-file.ts";

const ChangedFiles = lazily(async () => ({ default: (await import("./changed-files.tsx")).ChangedFiles }));

export const changesAhead = ChangedFiles.ahead;

/** Shows the files that a call has changed, and text that it is writing into files (W31). */
export function CallChanges({ call: { tool, changes, drafts } }: { readonly call: Call }) {
  const made = useMemo(() => changes?.map((change, index) => madeChange(change, String(index))) ?? [], [changes]);
  const files = useMemo(() => [...made, ...(drafts ?? []).map(growingChange)], [made, drafts]);
  if (files.length === 0) return null;
  return (
    <div className="border-hair border-t">
      <Suspense fallback={null}>
        <ChangedFiles files={files} name={t("Files changed by {tool}", { tool })} height="max-h-96" />
      </Suspense>
    </div>
  );
}
