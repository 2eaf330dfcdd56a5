import { type ReactNode, Suspense, useMemo } from "react";
import { lazily } from "../browser/lazily.ts";
import { useCopy } from "../browser/use-copy.ts";
import { IconButton } from "../design/button.tsx";
import { usePreference } from "../page/preferences.ts";
import { t } from "../phrases/phrases.ts";
import { Code } from "./code.tsx";
import { grammarOf } from "./languages.ts";
import { writtenDiff } from "./written-diff.ts";

const DrawnDiff = lazily(async () => ({ default: (await import("./drawn-diff.tsx")).DrawnDiff }));

/** A code block with its language, a copy button and a switch to wrap lines, which is remembered (W62). */
export function CodeBlock({
  actions,
  ...code
}: {
  readonly text: string;
  readonly language: string;
  readonly isGrowing: boolean;
  readonly actions?: ReactNode;
}) {
  const { text, language } = code;
  const [layout, setLayout] = usePreference("code");
  const isWrapped = layout === "wrapped";
  const lines = useMemo(() => (grammarOf(language) === "diff" ? writtenDiff(text) : undefined), [text, language]);
  const plain = (
    <code className="block px-3 font-mono">
      <Code {...code} />
    </code>
  );
  return (
    <figure className="overflow-hidden rounded-md border border-hair bg-sunken">
      <figcaption className="flex items-center gap-1 border-hair border-b py-0.5 pe-1.5 ps-3 text-soft text-xs">
        <span className="me-auto min-w-0 truncate font-mono">{language || "text"}</span>
        {actions}
        <IconButton
          isSmall
          name={t("Wrap long lines")}
          icon="wrap"
          aria-pressed={isWrapped}
          onClick={() => setLayout(isWrapped ? "scrolled" : "wrapped")}
        />
        <CopyButton name={t("Copy the code")} text={text} />
      </figcaption>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll this element.
        tabIndex={0}
        className={`overflow-x-auto py-2 text-[0.8125rem] leading-5 ${isWrapped ? "whitespace-pre-wrap [overflow-wrap:anywhere]" : ""}`}
      >
        {lines ? (
          <Suspense fallback={plain}>
            <code className="block font-mono">
              <DrawnDiff lines={lines} isWrapped={isWrapped} />
            </code>
          </Suspense>
        ) : (
          plain
        )}
      </pre>
    </figure>
  );
}

function CopyButton({ name, text }: { readonly name: string; readonly text: string }) {
  const { isCopied, copy } = useCopy(text);
  return <IconButton isSmall name={isCopied ? t("Copied") : name} icon={isCopied ? "done" : "copy"} onClick={copy} />;
}
