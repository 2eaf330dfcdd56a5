import type { Fold } from "./folds.ts";
import { looksInWords } from "./looks.ts";

/** The line that stands for messages which do nothing but look. */
export function FoldLine({
  fold,
  isOpen,
  onToggle,
}: {
  readonly fold: Fold;
  readonly isOpen: boolean;
  onToggle(): void;
}) {
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      onClick={onToggle}
      className="flex w-full items-baseline gap-2 rounded-md border border-hair px-3 py-1.5 text-left text-sm hover:bg-raised"
    >
      <span className="text-leaf">
        <span aria-hidden="true">✓ </span>
        done
      </span>
      <span>{looksInWords(fold.calls)}</span>
      <span className="text-soft text-xs">{fold.messages.length} steps</span>
      <span aria-hidden="true" className="ml-auto text-soft">
        {isOpen ? "▾" : "▸"}
      </span>
    </button>
  );
}
