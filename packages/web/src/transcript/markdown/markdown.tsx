import { visibleProse } from "@banyan/core/shown";
import { Suspense } from "react";
import { lazily } from "../../parts/browser/lazily.ts";

const Rendered = lazily(async () => ({ default: (await import("./rendered-markdown.tsx")).RenderedMarkdown }));

export const markdownAhead = Rendered.ahead;

/** Shows a model's text as rendered Markdown, or its source until the renderer is loaded. */
export function Markdown({ text, isStreaming }: { readonly text: string; readonly isStreaming: boolean }) {
  return (
    <Suspense fallback={<p className="whitespace-pre-wrap">{visibleProse(text)}</p>}>
      <Rendered text={text} isStreaming={isStreaming} />
    </Suspense>
  );
}
