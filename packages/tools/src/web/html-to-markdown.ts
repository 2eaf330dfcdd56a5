import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import Turndown from "turndown";
import { tables } from "./markdown-tables.ts";

/** A page of the web as text. */
export interface ReadablePage {
  readonly title: string;
  readonly markdown: string;
}

/** Larger pages are not searched for their main part. */
const MOST_ELEMENTS = 50_000;

/** The main part must have at least this fraction (1/10) of the whole text; else the whole page is shown. */
const LEAST_SHARE = 10;

const UNREADABLE = [
  "script",
  "style",
  "noscript",
  "template",
  "iframe",
  "object",
  "embed",
  "svg",
  "canvas",
  "button",
  "select",
];

/**
 * Returns the main part of a page as Markdown without raw HTML (S12), or the whole page if no part is dominant. Links
 * and images have absolute addresses, resolved from `address`. Only web addresses are kept. A hostile page can make
 * this run for ever or throw any error, so call this in a thread that can be ended.
 */
export function htmlToMarkdown(html: string, address: string): ReadablePage {
  const { document } = parseHTML(/<html[\s>]/i.test(html) ? html : `<html><body>${html}</body></html>`);
  const base = document.querySelector("base[href]")?.getAttribute("href") ?? "";
  nameInFull(document, URL.canParse(base, address) ? new URL(base, address).href : address);
  const whole = document.querySelector("body") ?? document.documentElement;
  const title = document.querySelector("title")?.textContent ?? "";
  // The search for the main part changes the document, so copy the page first.
  const all = whole.cloneNode(true) as HTMLElement;
  for (const element of all.querySelectorAll(UNREADABLE.join())) element.remove();
  const article = mainPart(document);
  const hasMain = article?.content !== undefined && lengthOf(article.content) * LEAST_SHARE >= lengthOf(all);
  return {
    title: (article?.title || title).replace(/\s+/g, " ").trim(),
    markdown: markdownOf(hasMain ? article.content : all),
  };
}

interface Article {
  readonly title: string;
  readonly content: HTMLElement | undefined;
}

function mainPart(document: Document): Article | undefined {
  try {
    const parsed = new Readability<HTMLElement>(document, {
      maxElemsToParse: MOST_ELEMENTS,
      keepClasses: true,
      serializer: (node) => node as HTMLElement,
    }).parse();
    return parsed === null ? undefined : { title: parsed.title ?? "", content: parsed.content ?? undefined };
  } catch {
    // The parser gives up on pages that are too large or too unusual: show the whole page.
    return undefined;
  }
}

function nameInFull(document: Document, base: string): void {
  for (const [selector, attribute] of [
    ["a[href]", "href"],
    ["img[src]", "src"],
  ] as const) {
    for (const element of document.querySelectorAll(selector)) {
      const value = element.getAttribute(attribute) ?? "";
      const full = URL.canParse(value, base) ? new URL(value, base) : undefined;
      if (full?.protocol === "http:" || full?.protocol === "https:") element.setAttribute(attribute, full.href);
      else element.removeAttribute(attribute);
    }
  }
}

function markdownOf(element: HTMLElement): string {
  const turndown = new Turndown({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-" });
  turndown.remove(UNREADABLE as (keyof HTMLElementTagNameMap)[]);
  turndown.use(tables);
  return turndown.turndown(element).trim();
}

function lengthOf(element: HTMLElement): number {
  return element.textContent?.length ?? 0;
}
