import { useEffect, useState } from "react";
import { usePage } from "../page.ts";
import { t } from "../phrases/phrases.ts";

/** Milliseconds for which it is told that something was copied. */
const TOLD = 1_500;

/** How a text is copied; for a moment after it, `isCopied` says that it was. */
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

/** A page that came from another machine without TLS has no `navigator.clipboard`: it fills what the browser copies. */
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
    // It would fill what the person copies next.
    document.removeEventListener("copy", fill);
  }
}
