import { Suspense } from "react";
import { lazily } from "../shell/lazily.ts";
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
