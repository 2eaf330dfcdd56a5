import { parseHTML } from "linkedom";
import { createElement } from "react";
import { createStore } from "zustand";
import { Page, PageProvider } from "../parts/page/page.ts";

// A document to render into, as in a browser: earlier output stays when more text arrives.
const { window, document } = parseHTML("<!doctype html><html><body></body></html>");
Object.assign(globalThis, { window, document });
const { createRoot } = await import("react-dom/client");
const { flushSync } = await import("react-dom");
const { RenderedMarkdown } = await import("./markdown/rendered-markdown.tsx");

/** A page without a connection, with the rights of a guest: only rendering happens. */
const store = createStore(() => ({ rights: ["show", "watch"], connection: { phase: "connecting" } }));
const page: Page = Object.assign(Object.create(Page.prototype), { store });

/** An element of the document that renders a Markdown text at once. */
export function drawing() {
  const place = document.createElement("div");
  document.body.append(place);
  const root = createRoot(place);
  return {
    place,
    draw(text: string, isStreaming: boolean): void {
      const markdown = createElement(RenderedMarkdown, { text, isStreaming });
      flushSync(() => root.render(createElement(PageProvider, { value: page }, markdown)));
    },
    end: () => {
      root.unmount();
      place.remove();
    },
  };
}
