import { GROUNDS, LineNumber } from "../diff/diff-rows.tsx";
import { Code } from "./code.tsx";
import type { WrittenLine } from "./written-diff.ts";

/** A diff in an answer, line by line, with coloured backgrounds and the highlighting of the file's language (W62). */
export function DrawnDiff({
  lines,
  isWrapped,
}: {
  readonly lines: readonly WrittenLine[];
  readonly isWrapped: boolean;
}) {
  const hasNumbers = lines.some(({ before, after }) => (before ?? after) !== undefined);
  return (
    <span className={`block ${isWrapped ? "" : "w-max min-w-full"}`}>
      {lines.map(({ kind, sign, text, before, after, path }, index) => (
        // The lines never move, so that the index identifies a line.
        <span key={index} className={`flex ${GROUNDS[kind]}`}>
          {hasNumbers && (
            <>
              <LineNumber value={before} />
              <LineNumber value={after} />
            </>
          )}
          <span className="min-h-5 min-w-0 px-3">
            {sign}
            {kind === "place" ? text : <Code text={text} language={path} />}
            {"\n"}
          </span>
        </span>
      ))}
    </span>
  );
}
