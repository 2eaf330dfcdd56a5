import type { DiffLine } from "@banyan/client/words";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef, useState } from "react";
import { t, tCount } from "../phrases/phrases.ts";
import { Counts, DiffRowLine, FileRow, Pair } from "./diff-rows.tsx";
import { inPairs, type LinePair } from "./patch.ts";
import type { ShownFile } from "./shown-file.ts";

/** Pixels of a line and of a file's head. Lines do not wrap, so that a row is found without measuring earlier rows. */
const LINE = 20;
const HEAD = 32;

/** Shows changed files with their changed lines. The page contains only the visible rows. */
export function ChangedFiles({
  files,
  name,
  height,
}: {
  readonly files: readonly ShownFile[];
  readonly name: string;
  readonly height: string;
}) {
  const scroller = useRef<HTMLElement>(null);
  const [layout, setLayout] = useState<Layout>("unified");
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => diffRows(files, closed, layout), [files, closed, layout]);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (rows[index]?.type === "file" ? HEAD : LINE),
    getItemKey: (index) => {
      const row = rows[index];
      return row?.type === "file" ? row.file.key : index;
    },
    overscan: 10,
  });
  const toggle = (key: string) => {
    const next = new Set(closed);
    if (!next.delete(key)) next.add(key);
    setClosed(next);
  };
  const items = list.getVirtualItems();
  const added = files.reduce((sum, file) => sum + file.added, 0);
  const removed = files.reduce((sum, file) => sum + file.removed, 0);
  return (
    <div className="flex min-h-0 flex-col text-sm">
      <p className="flex flex-wrap items-center gap-2 px-3 py-1 text-soft text-xs">
        <span>{tCount(files.length, "{count} file", "{count} files")}</span>
        <Counts added={added} removed={removed} />
        <span className="ml-auto flex gap-1">
          {(["unified", "split"] as const).map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={layout === each}
              onClick={() => setLayout(each)}
              className="min-h-6 rounded border border-transparent px-2 hover:bg-sunken aria-pressed:border-line aria-pressed:text-ink"
            >
              {each === "unified" ? t("Unified") : t("Split")}
            </button>
          ))}
        </span>
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll this element. */}
      <section ref={scroller} dir="ltr" aria-label={name} tabIndex={0} className={`@container overflow-auto ${height}`}>
        <div className="relative min-w-full" style={{ height: list.getTotalSize() }}>
          <div
            className={layout === "unified" ? "w-max min-w-full" : "w-full min-w-[36rem]"}
            style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}
          >
            {items.map(({ index, key, size }) => {
              const row = rows[index];
              return (
                <div key={key} style={{ height: size }}>
                  {row?.type === "file" && (
                    <FileRow file={row.file} isOpen={row.isOpen} onToggle={() => toggle(row.file.key)} />
                  )}
                  {row?.type === "line" && <DiffRowLine line={row.line} language={row.language} />}
                  {row?.type === "pair" && <Pair pair={row.pair} language={row.language} />}
                  {row?.type === "nothing" && (
                    <p className="px-3 text-soft text-xs">{t("No text to show: this is a binary file.")}</p>
                  )}
                </div>
              );
            })}
          </div>
        </div>
      </section>
    </div>
  );
}

type DiffRow =
  | { readonly type: "file"; readonly file: ShownFile; readonly isOpen: boolean }
  | { readonly type: "line"; readonly line: DiffLine; readonly language: string }
  | { readonly type: "pair"; readonly pair: LinePair; readonly language: string }
  | { readonly type: "nothing" };

type Layout = "unified" | "split";

/** The rows of all files in one list: a single scroller shows any number of files. */
function diffRows(files: readonly ShownFile[], closed: ReadonlySet<string>, layout: Layout): DiffRow[] {
  const rows: DiffRow[] = [];
  for (const file of files) {
    const isOpen = !closed.has(file.key);
    rows.push({ type: "file", file, isOpen });
    if (!isOpen) continue;
    const lines = file.lines();
    const language = file.path;
    if (lines.length === 0) rows.push({ type: "nothing" });
    else if (layout === "unified") for (const line of lines) rows.push({ type: "line", line, language });
    else for (const pair of inPairs(lines)) rows.push({ type: "pair", pair, language });
  }
  return rows;
}
