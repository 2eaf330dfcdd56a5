import { useState } from "react";
import { useCopy } from "../parts/browser/use-copy.ts";
import { t, tCount } from "../parts/phrases/phrases.ts";

const LINES = 20;
const CHARACTERS = 8_192;

/** Shows the beginning of a call's result, and the whole result on demand. Copies the whole result (W29). */
export function Output({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false);
  const { isCopied, copy } = useCopy(text);
  if (text === "") return null;
  const lines = text.split("\n");
  const shown = lines.slice(0, LINES).join("\n").slice(0, CHARACTERS);
  const isCut = shown.length < text.length;
  return (
    <div className="border-hair border-t px-3 py-2">
      {/* The engine bounds results, so that the page can show the whole text for reading, finding and selecting (W92). */}
      <pre className="whitespace-pre-wrap font-mono text-xs">{isWhole ? text : shown}</pre>
      <p className="mt-1 flex gap-3">
        {isCut && !isWhole && (
          <OutputButton onClick={() => setWhole(true)}>
            {tCount(lines.length, "Show all ({count} line)", "Show all ({count} lines)")}
          </OutputButton>
        )}
        <OutputButton onClick={copy}>{isCopied ? t("Copied") : t("Copy")}</OutputButton>
      </p>
    </div>
  );
}

function OutputButton({ children, onClick }: { readonly children: React.ReactNode; readonly onClick: () => void }) {
  return (
    <button type="button" onClick={onClick} className="min-h-6 text-leaf text-xs underline">
      {children}
    </button>
  );
}
