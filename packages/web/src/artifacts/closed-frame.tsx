import { useLayoutEffect, useRef, useState } from "react";
import { t } from "../phrases/phrases.ts";

/**
 * A document that a model wrote, in a frame that is of no origin and reaches no network: its scripts run, and can do nothing but
 * draw there (W61). Where a browser cannot keep a script from the network, none runs.
 */
export function ClosedFrame({ html, name }: { readonly html: string; readonly name: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [isClosed, setClosed] = useState<boolean>();
  // In the same tick as the frame is there: it says its word once.
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
          {t("Shown without scripts: this browser can't block their network access.")}
        </p>
        <iframe title={name} sandbox="" srcDoc={html} className={look} />
      </>
    );
  }
  // Another document takes another frame: nothing of the one before goes on in it.
  return <iframe key={html} ref={frame} title={name} sandbox="allow-scripts" src={FRAME} className={look} />;
}

/** Where the document comes from that runs what a model wrote; the server gives it a policy of its own. */
export const FRAME = "/frame.html";

/**
 * Waits until a frame says whether the browser keeps it from the network, and writes a document into it where `mayRun` says so.
 * Returns how to stop listening.
 */
export function writeInto(frame: HTMLIFrameElement, html: string, mayRun: (isClosed: boolean) => boolean): () => void {
  const onMessage = ({ data, source }: MessageEvent) => {
    if (source === null || source !== frame.contentWindow || (data !== "closed" && data !== "open")) return;
    window.removeEventListener("message", onMessage);
    // Its origin is none, which nothing can be addressed to by name.
    if (mayRun(data === "closed")) frame.contentWindow?.postMessage({ html }, "*");
  };
  window.addEventListener("message", onMessage);
  return () => window.removeEventListener("message", onMessage);
}
