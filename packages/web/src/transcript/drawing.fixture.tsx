import { parseHTML } from "linkedom";
import { createElement } from "react";
import { createStore } from "zustand";
import { Page, PageProvider } from "../page.ts";

// A document that is drawn into, as in a browser: what was drawn before is there when more comes.
const { window, document } = parseHTML("<!doctype html><html><body></body></html>");
Object.assign(globalThis, { window, document });
const { createRoot } = await import("react-dom/client");
const { flushSync } = await import("react-dom");
const { RenderedMarkdown } = await import("./markdown/rendered-markdown.tsx");

/** Nothing is asked of it: drawing is all that happens, as for a guest. */
const store = createStore(() => ({ rights: ["show", "watch"] }));
const page: Page = Object.assign(Object.create(Page.prototype), { store });

/** A place in the document for a text in Markdown, which is drawn there at once. */
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
