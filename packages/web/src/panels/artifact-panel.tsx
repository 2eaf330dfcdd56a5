import { pathTo } from "@banyan/core/conversation";
import { useEffect, useState } from "react";
import { saveFile } from "../parts/browser/save-file.ts";
import { CodeBlock } from "../parts/code/code-block.tsx";
import { useConversation, useTree } from "../parts/conversation/use-conversation.ts";
import { IconButton } from "../parts/design/button.tsx";
import { t } from "../parts/phrases/phrases.ts";
import { type Artifact, artifactFileName, artifactsOf, versionsOf } from "../transcript/artifacts/artifact.ts";
import { ClosedFrame } from "../transcript/artifacts/closed-frame.tsx";
import { DiagramPicture, diagramProblem, useDrawn } from "../transcript/artifacts/diagram.tsx";
import { RenderedMarkdown } from "../transcript/markdown/rendered-markdown.tsx";

/** An artifact of an answer: its view, its source, its versions along the branch, and a download (W61). */
export function ArtifactPanel({
  leaf,
  opened,
}: {
  readonly leaf: string | null;
  readonly opened: Artifact | undefined;
}) {
  const conversation = useConversation();
  const tree = useTree();
  const path = tree ? pathTo(tree, leaf) : [];
  const unread = path.filter(({ id }) => conversation.outline(id) !== undefined).map(({ id }) => id);
  useEffect(() => conversation.read(unread), [conversation, unread]);
  const all = artifactsOf(path);
  const [chosen, setChosen] = useState<Artifact>();
  const [isSource, setSource] = useState(false);
  // A newly opened artifact replaces the one chosen here.
  useEffect(() => setChosen(opened), [opened]);
  const shown = chosen ?? opened;
  if (!shown) return <ArtifactChoice all={all} isReading={unread.length > 0} onChoose={setChosen} />;
  const { versions, at } = versionsOf(shown, all);
  const go = (to: number) => setChosen(versions[to]);
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex flex-wrap items-center gap-1 border-hair border-b px-3 py-1 text-sm">
        <span dir="auto" className="me-auto min-w-0 truncate">
          {shown.name || NAMES[shown.kind]}
        </span>
        {versions.length > 1 && (
          <span className="flex items-center text-soft text-xs">
            <IconButton
              isSmall
              name={t("Previous version")}
              icon="back"
              disabled={at === 0}
              onClick={() => go(at - 1)}
            />
            {at + 1}/{versions.length}
            <IconButton
              isSmall
              name={t("Next version")}
              icon="fold"
              disabled={at === versions.length - 1}
              onClick={() => go(at + 1)}
            />
          </span>
        )}
        <IconButton
          isSmall
          name={t("Source")}
          icon="file"
          aria-pressed={isSource}
          onClick={() => setSource(!isSource)}
        />
        <IconButton
          isSmall
          name={t("Download")}
          icon="download"
          onClick={() => saveFile({ name: artifactFileName(shown), mediaType: "text/plain", text: shown.text })}
        />
      </div>
      {isSource ? (
        <div className="min-h-0 flex-1 overflow-y-auto p-3">
          <CodeBlock text={shown.text} language={shown.kind} isGrowing={false} />
        </div>
      ) : (
        <Shown artifact={shown} />
      )}
    </div>
  );
}

/**
 * Lists the artifacts, the newest first. None runs before the user opens it: an artifact that blocks or crashes the
 * page would do so again after each reload.
 */
function ArtifactChoice({
  all,
  isReading,
  onChoose,
}: {
  readonly all: readonly Artifact[];
  readonly isReading: boolean;
  onChoose(artifact: Artifact): void;
}) {
  if (all.length === 0) {
    return (
      <p className="p-3 text-sm">
        {isReading
          ? t("Reading …")
          : t("Nothing to open yet. Pages, images (SVG), diagrams and long texts from answers appear here.")}
      </p>
    );
  }
  return (
    <ul aria-label={t("Artifacts to open")} className="flex min-h-0 flex-1 flex-col gap-1 overflow-y-auto p-2">
      {all.toReversed().map((artifact, index) => (
        <li key={all.length - index}>
          <button
            type="button"
            onClick={() => onChoose(artifact)}
            className="flex w-full items-baseline gap-2 rounded-md px-2 py-1.5 text-start text-sm hover:bg-sunken"
          >
            <span dir="auto" className="min-w-0 flex-1 truncate">
              {artifact.name || NAMES[artifact.kind]}
            </span>
            <span className="shrink-0 text-soft text-xs">{artifact.kind}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

const NAMES: Readonly<Record<Artifact["kind"], string>> = {
  html: t("Page"),
  svg: t("Image"),
  mermaid: t("Diagram"),
  markdown: t("Text"),
};

function Shown({ artifact: { kind, name, text } }: { readonly artifact: Artifact }) {
  switch (kind) {
    case "html":
    case "svg":
      return <ClosedFrame html={kind === "svg" ? aroundPicture(text) : text} name={name || NAMES[kind]} />;
    case "mermaid":
      return <LargeDiagram text={text} />;
    case "markdown":
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll this element.
        <section aria-label={name || NAMES[kind]} tabIndex={0} className="min-h-0 flex-1 overflow-y-auto p-4">
          <RenderedMarkdown text={text} isStreaming={false} />
        </section>
      );
    default:
      return kind satisfies never;
  }
}

function LargeDiagram({ text }: { readonly text: string }) {
  const drawn = useDrawn(text, false);
  if (!drawn) return <p className="p-3 text-sm text-soft">{t("Drawing …")}</p>;
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      {"svg" in drawn ? (
        <DiagramPicture svg={drawn.svg} text={text} />
      ) : (
        <p className="p-3 text-sm">{diagramProblem(drawn.problem)}</p>
      )}
    </div>
  );
}

function aroundPicture(svg: string): string {
  return `<!doctype html><meta charset="utf-8"><style>body{margin:0;height:100vh;display:grid;place-items:center}svg{max-width:100%;max-height:100vh}</style>${svg}`;
}
