import { type DiffLine, type LinePair, SIGNS } from "./patch.ts";
import type { ShownFile } from "./shown-file.ts";

/** Grounds by kind; the sign before each line says the same without colour. */
const GROUNDS = {
  added: "bg-leaf-ground",
  removed: "bg-bad-ground",
  same: "",
  place: "bg-sunken text-soft",
} as const;

/** The head of a file: its path and counts; it opens and closes its lines. */
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
      className="sticky left-0 flex h-full w-full max-w-[calc(100vw-3rem)] items-center gap-2 border-hair border-t bg-raised px-3 text-left text-sm"
    >
      <span aria-hidden="true" className="text-soft">
        {isOpen ? "▾" : "▸"}
      </span>
      <span className="min-w-0 truncate font-mono text-xs">{path}</span>
      <span className="shrink-0 text-soft text-xs">{word}</span>
      <Counts added={added} removed={removed} />
    </button>
  );
}

/** A line with its numbers in the old and the new text. */
export function Line({ line }: { readonly line: DiffLine }) {
  return (
    <div className={`flex h-full whitespace-pre font-mono text-xs leading-5 ${GROUNDS[line.kind]}`}>
      <LineNumber value={line.before} />
      <LineNumber value={line.after} />
      <span className="pr-3">{`${SIGNS[line.kind]} ${line.text}`}</span>
    </div>
  );
}

/** The old line and the new one. */
export function Pair({ pair: { left, right } }: { readonly pair: LinePair }) {
  return (
    <div className="grid h-full grid-cols-2 font-mono text-xs leading-5">
      <Side line={left} number={left?.before} />
      <Side line={right} number={right?.after} />
    </div>
  );
}

function Side({ line, number }: { readonly line: DiffLine | undefined; readonly number: number | undefined }) {
  if (!line) return <div className="bg-sunken" />;
  return (
    <div className={`flex overflow-hidden whitespace-pre ${GROUNDS[line.kind]}`} title={line.text}>
      <LineNumber value={number} />
      <span className="truncate">{`${SIGNS[line.kind]} ${line.text}`}</span>
    </div>
  );
}

function LineNumber({ value }: { readonly value: number | undefined }) {
  return (
    <span aria-hidden="true" className="w-12 shrink-0 select-none pr-2 text-right text-soft">
      {value}
    </span>
  );
}

/** `+3 −1` */
export function Counts({ added, removed }: { readonly added: number; readonly removed: number }) {
  return (
    <span className="whitespace-nowrap font-mono text-xs">
      <span className="text-leaf">+{added}</span> <span className="text-bad">−{removed}</span>
    </span>
  );
}
