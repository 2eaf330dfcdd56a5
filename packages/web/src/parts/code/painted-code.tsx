import { memo, useRef } from "react";
import { type CodePiece, type CodeTokenKind, highlight } from "./highlight.ts";
import type { CodeGrammar } from "./languages.ts";

/** The growth after which streaming code is highlighted again: the total cost stays a small multiple of the last pass. */
const GROWTH = 1.25;

const COLOURS: Readonly<Record<CodeTokenKind, string>> = {
  keyword: "text-code-keyword",
  string: "text-code-string",
  number: "text-code-number",
  comment: "text-soft italic",
  name: "text-code-name",
  type: "text-code-type",
  good: "text-leaf",
  bad: "text-bad",
};

/** Highlighted code. While the code streams, text since the last pass has no colours. */
export function PaintedCode({
  text,
  grammar,
  isGrowing,
}: {
  readonly text: string;
  readonly grammar: CodeGrammar;
  readonly isGrowing: boolean;
}) {
  const last = useRef<{ readonly text: string; readonly grammar: CodeGrammar; readonly pieces: readonly CodePiece[] }>(
    null,
  );
  const isOld =
    last.current?.grammar !== grammar ||
    (isGrowing ? !text.startsWith(last.current.text) : text !== last.current.text) ||
    text.length > GROWTH * last.current.text.length;
  if (isOld) last.current = { text, grammar, pieces: highlight(text, grammar) };
  const { text: seen = "", pieces = [] } = last.current ?? {};
  return (
    <>
      <Pieces pieces={pieces} />
      {text.slice(seen.length)}
    </>
  );
}

const Pieces = memo(function Pieces({ pieces }: { readonly pieces: readonly CodePiece[] }) {
  return pieces.map(({ text, kind }, index) =>
    kind === undefined ? (
      text
    ) : (
      // The pieces are always replaced as a whole.
      <span key={index} className={COLOURS[kind]}>
        {text}
      </span>
    ),
  );
});
