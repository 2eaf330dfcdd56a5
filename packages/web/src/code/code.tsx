import { Suspense } from "react";
import { lazily } from "../shell/lazily.ts";
import { useCopy } from "../shell/use-copy.ts";
import { grammarOf } from "./languages.ts";

const Painted = lazily(async () => ({ default: (await import("./painted-code.tsx")).PaintedCode }));

/** Code in the colours of its language. Until the grammars are there, and where none knows the language, in one colour. */
export function Code({
  text,
  language,
  isGrowing = false,
}: {
  readonly text: string;
  /** Its name, or that of a file; empty when it is not known. */
  readonly language: string;
  /** More of it is to come. */
  readonly isGrowing?: boolean;
}) {
  const grammar = grammarOf(language);
  if (!grammar) return text;
  return (
    <Suspense fallback={text}>
      <Painted text={text} grammar={grammar} isGrowing={isGrowing} />
    </Suspense>
  );
}

/** Code that stands by itself: its language, and a way to copy it. */
export function CodeBlock(code: { readonly text: string; readonly language: string; readonly isGrowing: boolean }) {
  return (
    <figure className="overflow-hidden rounded-md border border-hair bg-sunken">
      <figcaption className="flex items-center justify-between border-hair border-b px-3 text-soft text-xs">
        <span className="font-mono">{code.language || "text"}</span>
        <CopyButton name="Copy the code" text={code.text} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard. */}
      <pre tabIndex={0} className="overflow-x-auto px-3 py-2 text-[0.8125rem] leading-5">
        <code className="font-mono">
          <Code {...code} />
        </code>
      </pre>
    </figure>
  );
}

/** Copies a text, and says so. */
function CopyButton({ name, text }: { readonly name: string; readonly text: string }) {
  const { isCopied, copy } = useCopy(text);
  return (
    <button
      type="button"
      aria-label={name}
      onClick={copy}
      className="min-h-6 rounded px-1 text-soft text-xs hover:bg-raised hover:text-ink"
    >
      {isCopied ? "Copied" : "Copy"}
    </button>
  );
}
