import katex from "katex";
import { type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { useCopy } from "../../parts/browser/use-copy.ts";
import { SmallButton } from "../../parts/design/button.tsx";
import { Icon } from "../../parts/design/icon.tsx";
import { t } from "../../parts/phrases/phrases.ts";
import type { Formula } from "./math.ts";

/**
 * Shows a formula in MathML. Browsers render MathML without fonts, and without styles that the content security policy
 * forbids. TeX commands that make links or change the page are off (`trust`), and macro expansion is bounded.
 */
export function TypesetFormula({
  tex,
  isDisplay,
  source,
}: Formula & {
  /** The element that is shown if the formula is invalid. */
  readonly source: ReactNode;
}) {
  const place = useRef<HTMLSpanElement>(null);
  const [isBroken, setBroken] = useState(false);
  const { isCopied, copy } = useCopy(tex);
  useLayoutEffect(() => {
    if (!place.current) return;
    try {
      katex.render(tex, place.current, { ...LIMITS, displayMode: isDisplay });
      setBroken(false);
    } catch {
      // Invalid or unknown TeX: show the source.
      setBroken(true);
    }
  }, [tex, isDisplay]);
  if (!isDisplay) {
    return (
      <>
        <span ref={place} title={tex} hidden={isBroken} />
        {isBroken && source}
      </>
    );
  }
  return (
    <span className="group/formula relative block overflow-x-auto py-1 text-center">
      <span ref={place} hidden={isBroken} />
      {isBroken && source}
      <span className="absolute top-0 end-0 opacity-0 focus-within:opacity-100 group-hover/formula:opacity-100">
        <SmallButton name={t("Copy the formula")} onClick={copy}>
          <Icon of={isCopied ? "done" : "copy"} />
        </SmallButton>
      </span>
    </span>
  );
}

const LIMITS = {
  output: "mathml",
  throwOnError: true,
  strict: "ignore",
  trust: false,
  maxExpand: 500,
  maxSize: 20,
} as const;
