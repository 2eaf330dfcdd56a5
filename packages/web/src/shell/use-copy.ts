import { useEffect, useState } from "react";

/** Milliseconds for which it is told that something was copied. */
const TOLD = 1_500;

/** How a text is copied; for a moment after it, `isCopied` says that it was. */
export function useCopy(text: string): { readonly isCopied: boolean; copy(): void } {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), TOLD);
    return () => clearTimeout(timer);
  }, [isCopied]);
  return { isCopied, copy: () => void putOnClipboard(text).then(() => setCopied(true)) };
}

/** A page that came from another machine without TLS has no `navigator.clipboard`: it fills what the browser copies. */
async function putOnClipboard(text: string): Promise<void> {
  if ("clipboard" in navigator) return navigator.clipboard.writeText(text);
  const fill = (event: ClipboardEvent) => {
    event.clipboardData?.setData("text/plain", text);
    event.preventDefault();
  };
  document.addEventListener("copy", fill, { once: true });
  document.execCommand("copy");
}
