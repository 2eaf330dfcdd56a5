import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef, useState } from "react";
import { t, tCount } from "../phrases/phrases.ts";
import { useCopy } from "../shell/use-copy.ts";

/** What of a result is shown at first (W29). */
const LINES = 20;
const CHARACTERS = 8_192;

/** The result of a call: its beginning, and all of it when asked for. Copying takes all of it. */
export function Output({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false);
  const { isCopied, copy } = useCopy(text);
  if (text === "") return null;
  const lines = text.split("\n");
  const shown = lines.slice(0, LINES).join("\n").slice(0, CHARACTERS);
  const isCut = shown.length < text.length;
  return (
    <div className="border-hair border-t px-3 py-2">
      {isCut && isWhole ? (
        <Lines lines={lines} />
      ) : (
        <pre className="whitespace-pre-wrap font-mono text-xs">{shown}</pre>
      )}
      <p className="mt-1 flex gap-3">
        {isCut && !isWhole && (
          <Small onClick={() => setWhole(true)}>
            {tCount(lines.length, "Show all ({count} line)", "Show all ({count} lines)")}
          </Small>
        )}
        <Small onClick={copy}>{isCopied ? t("Copied") : t("Copy")}</Small>
      </p>
    </div>
  );
}

/** Lines, of which only those in sight are in the page. */
function Lines({ lines }: { readonly lines: readonly string[] }) {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    // Rows that are measured together are drawn together.
    useFlushSync: false,
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 16,
    overscan: 20,
  });
  return (
    <section
      ref={scroller}
      aria-label={tCount(lines.length, "The one line", "All {count} lines")}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard.
      tabIndex={0}
      className="max-h-96 overflow-y-auto"
    >
      <div className="relative" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, start }) => (
          <pre
            key={index}
            ref={rows.measureElement}
            data-index={index}
            className="absolute top-0 start-0 min-h-4 w-full whitespace-pre-wrap font-mono text-xs"
            style={{ transform: `translateY(${start}px)` }}
          >
            {lines[index]}
          </pre>
        ))}
      </div>
    </section>
  );
}

function Small({ children, onClick }: { readonly children: React.ReactNode; readonly onClick: () => void }) {
  return (
    <button type="button" onClick={onClick} className="min-h-6 text-leaf text-xs underline">
      {children}
    </button>
  );
}
