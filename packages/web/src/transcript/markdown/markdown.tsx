import { visibleProse } from "@banyan/core/shown";
import { Suspense } from "react";
import { lazily } from "../../shell/lazily.ts";

const Rendered = lazily(async () => ({ default: (await import("./rendered-markdown.tsx")).RenderedMarkdown }));

/** Loads what renders Markdown. */
export const markdownAhead = Rendered.ahead;

/** Markdown of a model. Until the code that renders it is there, and only then, it stands as it was written. */
export function Markdown({ text, isStreaming }: { readonly text: string; readonly isStreaming: boolean }) {
  return (
    <Suspense fallback={<p className="whitespace-pre-wrap">{visibleProse(text)}</p>}>
      <Rendered text={text} isStreaming={isStreaming} />
    </Suspense>
  );
}
