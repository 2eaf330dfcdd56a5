import { useEffect, useState } from "react";
import { usePage } from "../page/page.ts";
import { t } from "../phrases/phrases.ts";

const TOLD = 1_500;

/** Returns a function that copies a text, and whether a text was copied a moment ago. */
export function useCopy(text: string): { readonly isCopied: boolean; copy(): void } {
  const page = usePage();
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), TOLD);
    return () => clearTimeout(timer);
  }, [isCopied]);
  return { isCopied, copy: () => page.told(putOnClipboard(text).then(() => setCopied(true))) };
}

const REFUSED = t("Could not copy: the browser does not allow it.");

/** Over plain HTTP from another machine there is no `navigator.clipboard`: fill the browser's copy event instead. */
async function putOnClipboard(text: string): Promise<void> {
  if ("clipboard" in navigator) {
    return navigator.clipboard.writeText(text).catch((cause: unknown) => {
      throw new Error(REFUSED, { cause });
    });
  }
  let isFilled = false;
  const fill = (event: ClipboardEvent) => {
    event.clipboardData?.setData("text/plain", text);
    event.preventDefault();
    isFilled = true;
  };
  document.addEventListener("copy", fill);
  try {
    if (!document.execCommand("copy") || !isFilled) throw new Error(REFUSED);
  } finally {
    // The listener would also fill the user's next copy.
    document.removeEventListener("copy", fill);
  }
}
