import { useState } from "react";

/** Milliseconds for which it says that it has copied. */
const SAID = 1_500;

/** Copies a text, and says so. */
export function CopyButton({ name, text }: { readonly name: string; readonly text: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), SAID);
  };
  return (
    <button
      type="button"
      aria-label={name}
      onClick={() => void copy()}
      className="min-h-6 rounded px-1 text-soft text-xs hover:bg-raised hover:text-ink"
    >
      {isCopied ? "Copied" : "Copy"}
    </button>
  );
}
