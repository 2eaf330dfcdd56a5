import { Suspense } from "react";
import { lazily } from "../browser/lazily.ts";
import { grammarOf } from "./languages.ts";

const Painted = lazily(async () => ({ default: (await import("./painted-code.tsx")).PaintedCode }));

/** Shows code with syntax highlighting; without it while the grammars load, and for unknown languages. */
export function Code({
  text,
  language,
  isGrowing = false,
}: {
  readonly text: string;
  /** The name of a language or file; empty if unknown. */
  readonly language: string;
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
