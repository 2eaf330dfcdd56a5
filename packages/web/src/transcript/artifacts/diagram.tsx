import { type ReactNode, useEffect, useState } from "react";
import { useCopy } from "../../parts/browser/use-copy.ts";
import { CodeBlock } from "../../parts/code/code-block.tsx";
import { IconButton } from "../../parts/design/button.tsx";
import { useIsDark } from "../../parts/page/preferences.ts";
import { t } from "../../parts/phrases/phrases.ts";
import { type DiagramResult, drawDiagram } from "./diagram-frame.ts";

/** A Mermaid diagram as an image, with a button for its source; code while it streams or if it cannot be drawn (W58). */
export function Diagram({
  text,
  isGrowing,
  actions,
}: {
  readonly text: string;
  readonly isGrowing: boolean;
  readonly actions?: ReactNode;
}) {
  const drawn = useDrawn(text, isGrowing);
  const [isSource, setSource] = useState(false);
  const { isCopied, copy } = useCopy(text);
  const name = isSource ? t("Show the diagram") : t("Show the source");
  const toggle = drawn && "svg" in drawn && (
    <IconButton isSmall name={name} icon={isSource ? "map" : "file"} onClick={() => setSource(!isSource)} />
  );
  if (!drawn || "problem" in drawn || isSource) {
    const said = isGrowing
      ? t("The diagram appears when it is complete.")
      : drawn && "problem" in drawn && diagramProblem(drawn.problem);
    return (
      <div>
        <CodeBlock
          text={text}
          language="mermaid"
          isGrowing={isGrowing}
          actions={
            <>
              {actions}
              {toggle}
            </>
          }
        />
        {said && <p className="mt-1 text-soft text-xs">{said}</p>}
      </div>
    );
  }
  return (
    <figure className="overflow-hidden rounded-md border border-hair">
      <figcaption className="flex items-center gap-1 border-hair border-b bg-sunken py-0.5 pe-1.5 ps-3 text-soft text-xs">
        <span className="me-auto font-mono">mermaid</span>
        {actions}
        {toggle}
        <IconButton
          isSmall
          name={isCopied ? t("Copied") : t("Copy the source")}
          icon={isCopied ? "done" : "copy"}
          onClick={copy}
        />
      </figcaption>
      <DiagramPicture svg={drawn.svg} text={text} />
    </figure>
  );
}

/** A diagram as an image, which cannot run code, load anything or reach the page. */
export function DiagramPicture({ svg, text }: { readonly svg: string; readonly text: string }) {
  const [, , , width] = /viewBox="([-\d.]+) ([-\d.]+) ([\d.]+)/.exec(svg) ?? [];
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll this element.
    <section aria-label={t("Diagram")} tabIndex={0} className="overflow-auto p-3">
      <img
        src={`data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`}
        alt={t("Diagram of: {text}", { text })}
        className="mx-auto h-auto max-w-full"
        style={width === undefined ? {} : { width: `${width}px` }}
      />
    </section>
  );
}

/** Returns the drawn diagram; `undefined` while its text streams or it is being drawn. */
export function useDrawn(text: string, isGrowing: boolean): DiagramResult | undefined {
  const isDark = useIsDark();
  const [drawn, setDrawn] = useState<DiagramResult & { readonly of: string }>();
  useEffect(() => {
    if (isGrowing) return;
    let isWanted = true;
    drawDiagram(text, isDark)
      .then((next) => {
        if (isWanted) setDrawn({ ...next, of: text });
      })
      .catch(() => {
        // `drawDiagram` returns errors as a result.
      });
    return () => {
      isWanted = false;
    };
  }, [text, isGrowing, isDark]);
  return drawn?.of === text && !isGrowing ? drawn : undefined;
}

export function diagramProblem(problem: string): string {
  return t("Could not draw the diagram: {problem}.", { problem: problem.replace(/[.:]*$/, "") });
}
