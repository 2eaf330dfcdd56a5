import type { DiffLine } from "@banyan/client/words";
import { visibleLine } from "@banyan/core/shown";
import { Code } from "../code/code.tsx";
import { type LinePair, SIGNS } from "./patch.ts";
import type { ShownFile } from "./shown-file.ts";

/** Background colours by the kind of line; the signs `+` and `-` give the same information without colour. */
export const GROUNDS = {
  added: "bg-leaf-ground",
  removed: "bg-bad-ground",
  same: "",
  place: "bg-sunken text-soft",
} as const;

/** The heading of a file with path and line counts; a click shows or hides the file's lines. */
export function FileRow({
  file: { path, word, added, removed },
  isOpen,
  onToggle,
}: {
  readonly file: ShownFile;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}) {
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      onClick={onToggle}
      className="sticky left-0 flex h-full w-[100cqw] items-center gap-2 border-hair border-t bg-raised px-3 text-left text-sm"
    >
      <span aria-hidden="true" className="text-soft">
        {isOpen ? "▾" : "▸"}
      </span>
      <span className="min-w-0 truncate font-mono text-xs">{visibleLine(path)}</span>
      <span className="shrink-0 text-soft text-xs">{word}</span>
      <Counts added={added} removed={removed} />
    </button>
  );
}

export function DiffRowLine({ line, language }: { readonly line: DiffLine; readonly language: string }) {
  return (
    <div className={`flex h-full whitespace-pre font-mono text-xs leading-5 ${GROUNDS[line.kind]}`}>
      {(line.before ?? line.after) !== undefined && (
        <>
          <LineNumber value={line.before} />
          <LineNumber value={line.after} />
        </>
      )}
      <span className="px-3">
        <DiffText line={line} language={language} />
      </span>
    </div>
  );
}

export function Pair({ pair: { left, right }, language }: { readonly pair: LinePair; readonly language: string }) {
  return (
    <div className="grid h-full grid-cols-2 font-mono text-xs leading-5">
      <Side line={left} number={left?.before} language={language} />
      <Side line={right} number={right?.after} language={language} />
    </div>
  );
}

function Side({
  line,
  number,
  language,
}: {
  readonly line: DiffLine | undefined;
  readonly number: number | undefined;
  readonly language: string;
}) {
  if (!line) return <div className="bg-sunken" />;
  return (
    <div className={`flex overflow-hidden whitespace-pre ${GROUNDS[line.kind]}`} title={line.text}>
      <LineNumber value={number} />
      <span className="truncate pl-3">
        <DiffText line={line} language={language} />
      </span>
    </div>
  );
}

/** Highlights each line alone: a comment that began on an earlier line is not recognised. */
function DiffText({ line: { kind, text }, language }: { readonly line: DiffLine; readonly language: string }) {
  if (kind === "place") return `${SIGNS[kind]} ${text}`;
  return (
    <>
      {`${SIGNS[kind]} `}
      <Code text={text} language={language} />
    </>
  );
}

export function LineNumber({ value }: { readonly value: number | undefined }) {
  return (
    <span aria-hidden="true" className="w-9 shrink-0 select-none text-right text-soft">
      {value}
    </span>
  );
}

/** The counts of added and removed lines, such as `+3 −1`. */
export function Counts({ added, removed }: { readonly added: number; readonly removed: number }) {
  return (
    <span className="whitespace-nowrap font-mono text-xs">
      <span className="text-leaf">+{added}</span> <span className="text-bad">−{removed}</span>
    </span>
  );
}
