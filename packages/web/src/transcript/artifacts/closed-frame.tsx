import { useLayoutEffect, useRef, useState } from "react";
import { t } from "../../parts/phrases/phrases.ts";

/**
 * Shows a document that a model wrote, in a frame with a unique origin and without network: its scripts can only draw
 * there (W61). No script runs if the browser cannot block the network.
 */
export function ClosedFrame({ html, name }: { readonly html: string; readonly name: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [isClosed, setClosed] = useState<boolean>();
  // A layout effect listens in the tick in which the frame appears: the frame sends its message only once.
  useLayoutEffect(() => {
    const mayRun = (closed: boolean) => {
      setClosed(closed);
      return closed;
    };
    return frame.current ? writeInto(frame.current, html, mayRun) : undefined;
  }, [html]);
  const look = "min-h-0 w-full flex-1 border-0 bg-white";
  if (isClosed === false) {
    return (
      <>
        <p className="px-3 py-1.5 text-warn text-xs">
          {t("Shown without scripts, because this browser can't block network access from scripts.")}
        </p>
        <iframe title={name} sandbox="" srcDoc={html} className={look} />
      </>
    );
  }
  // A new document gets a new frame, so that nothing of the old one continues.
  return <iframe key={html} ref={frame} title={name} sandbox="allow-scripts" src={FRAME} className={look} />;
}

/** The document that runs content of a model. The server sends this document with a security policy of its own. */
export const FRAME = "/frame.html";

/**
 * Waits until a frame reports whether the browser blocks its network, and writes a document into the frame if `mayRun`
 * allows it. Returns a function that stops listening.
 */
export function writeInto(frame: HTMLIFrameElement, html: string, mayRun: (isClosed: boolean) => boolean): () => void {
  const onMessage = ({ data, source }: MessageEvent) => {
    if (source === null || source !== frame.contentWindow || (data !== "closed" && data !== "open")) return;
    window.removeEventListener("message", onMessage);
    // A frame with an opaque origin can only be addressed with "*".
    if (mayRun(data === "closed")) frame.contentWindow?.postMessage({ html }, "*");
  };
  window.addEventListener("message", onMessage);
  return () => window.removeEventListener("message", onMessage);
}
