import type { Json } from "@banyan/core/conversation";
import { Suspense } from "react";
import { lazily } from "../shell/lazily.ts";

const ProposedFile = lazily(async () => ({ default: (await import("./proposed-file.tsx")).ProposedFile }));

/** Whether the arguments of a tool tell what it would do to a file. */
export function showsChanges(tool: string): boolean {
  return tool === "edit" || tool === "write";
}

/** What a call would do to a file if it ran with these arguments; nothing for tools whose arguments do not tell (W32). */
export function ProposedChanges({ tool, input }: { readonly tool: string; readonly input: Json | undefined }) {
  if (!showsChanges(tool)) return null;
  return (
    <Suspense fallback={null}>
      <ProposedFile input={input} />
    </Suspense>
  );
}
