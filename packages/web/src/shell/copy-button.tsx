import { useCopy } from "./use-copy.ts";

/** Copies a text, and says so. */
export function CopyButton({ name, text }: { readonly name: string; readonly text: string }) {
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
