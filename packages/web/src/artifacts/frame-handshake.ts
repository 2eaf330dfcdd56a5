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
