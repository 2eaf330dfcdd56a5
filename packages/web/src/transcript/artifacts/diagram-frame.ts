import { errorMessage } from "@banyan/core/shown";
import library from "@mermaid-js/tiny/dist/mermaid.tiny.js?url";
import { FRAME, writeInto } from "./closed-frame.tsx";

/** Milliseconds for a diagram: one that takes longer may block the frame on purpose. */
const PATIENCE = 15_000;

/** A drawn diagram, or the error. */
export type DiagramResult = { readonly svg: string } | { readonly problem: string };

let frame: Promise<HTMLIFrameElement> | undefined;
let last = 0;

/**
 * Draws a Mermaid diagram. The library loads with the first diagram (W58) and runs in a frame without any access, so
 * that its faults can do no harm. The result is an image, in which no script runs.
 */
export async function drawDiagram(text: string, isDark: boolean): Promise<DiagramResult> {
  frame ??= openFrame();
  const opened = frame;
  try {
    const drawn = await askFrame(await opened, { text, theme: isDark ? "dark" : "default" });
    return typeof drawn.svg === "string" ? { svg: drawn.svg } : { problem: firstLineOfProblem(drawn.problem) };
  } catch (error) {
    // A frame that does not answer is useless for the next diagram, too.
    if (frame === opened) frame = undefined;
    opened.then(
      (element) => element.remove(),
      () => {
        // The frame was removed when it failed to open.
      },
    );
    return { problem: errorMessage(error) };
  }
}

async function openFrame(): Promise<HTMLIFrameElement> {
  const loaded = await fetch(library);
  if (!loaded.ok) throw new Error("the diagram library could not be loaded");
  const html = documentWith(await loaded.text());
  const element = document.createElement("iframe");
  Object.assign(element, { src: FRAME, title: "Draws diagrams", tabIndex: -1 });
  element.setAttribute("sandbox", "allow-scripts");
  element.setAttribute("aria-hidden", "true");
  // Hidden but laid out, because the library measures its drawing.
  element.style.cssText = "position:fixed;left:-9999px;width:1200px;height:900px;visibility:hidden;border:0";
  document.body.append(element);
  try {
    // Network access does not matter here: only the library and the diagram's text run in the frame.
    writeInto(element, html, () => true);
    await askFrame(element);
    return element;
  } catch (error) {
    element.remove();
    throw error;
  }
}

/** Sends a request to a frame and waits for the answer; without a request, waits until the frame is ready. */
function askFrame(
  { contentWindow }: HTMLIFrameElement,
  question?: { readonly text: string; readonly theme: string },
): Promise<{ readonly svg?: unknown; readonly problem?: unknown }> {
  const id = question ? ++last : 0;
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      window.removeEventListener("message", onMessage);
    };
    const timer = setTimeout(() => {
      end();
      reject(new Error("it took too long to draw"));
    }, PATIENCE);
    const onMessage = ({ data, source }: MessageEvent) => {
      if (source !== contentWindow || data?.id !== id) return;
      end();
      resolve(data);
    };
    window.addEventListener("message", onMessage);
    if (question) contentWindow?.postMessage({ id, ...question }, "*");
  });
}

/** The first line of an error, without the lines that point into the source. */
function firstLineOfProblem(problem: unknown): string {
  return String(problem).split("\n", 1)[0]?.slice(0, 200) ?? "";
}

const FIXED = {
  startOnLoad: false,
  securityLevel: "strict",
  htmlLabels: false,
  suppressErrorRendering: true,
  maxTextSize: 50_000,
  maxEdges: 500,
  fontFamily: "system-ui, sans-serif",
} as const;

function documentWith(script: string): string {
  const settings = JSON.stringify({ ...FIXED, secure: ["secure", "themeCSS", ...Object.keys(FIXED)] });
  const draws = `
    addEventListener("message", async ({ data: { id, text, theme }, source }) => {
      if (source !== parent) return;
      try {
        mermaid.initialize({ ...${settings}, theme });
        const { svg } = await mermaid.render("diagram" + id, text);
        const holder = document.createElement("div");
        holder.innerHTML = svg;
        // As XML, because an image must be well-formed.
        parent.postMessage({ id, svg: new XMLSerializer().serializeToString(holder.firstElementChild) }, "*");
      } catch (error) {
        parent.postMessage({ id, problem: error && error.message ? error.message : String(error) }, "*");
      }
    });
    parent.postMessage({ id: 0 }, "*");`;
  return `<!doctype html><meta charset="utf-8"><body>${inScript(script)}${inScript(draws)}`;
}

/** A script element, whatever strings the script contains. */
function inScript(script: string): string {
  return `<script>${script.replace(/<\/(?=script)/gi, "<\\/").replace(/<!--/g, "<\\!--")}</script>`;
}
