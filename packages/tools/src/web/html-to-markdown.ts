import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import Turndown from "turndown";
import { tables } from "./markdown-tables.ts";

/** A page as text. */
export interface ReadablePage {
  readonly title: string;
  readonly markdown: string;
}

/** Pages with more elements are not searched for their main part. */
const MOST_ELEMENTS = 50_000;

/** What is taken for the main part must be one such part of the whole, else the whole is shown. */
const LEAST_SHARE = 10;

/** Nothing of these is meant to be read. */
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
 * The main part of a page as Markdown without raw HTML (S12), or all of it where no part stands out. Links and images
 * are named in full, as seen from `address`; only those of the web are. Pages are built by strangers: this may take for
 * ever, or throw anything, and belongs into a thread that can be ended.
 */
export function htmlToMarkdown(html: string, address: string): ReadablePage {
  const { document } = parseHTML(/<html[\s>]/i.test(html) ? html : `<html><body>${html}</body></html>`);
  const base = document.querySelector("base[href]")?.getAttribute("href") ?? "";
  nameInFull(document, URL.canParse(base, address) ? new URL(base, address).href : address);
  const whole = document.querySelector("body") ?? document.documentElement;
  const title = document.querySelector("title")?.textContent ?? "";
  // It takes the document apart.
  const all = whole.cloneNode(true) as HTMLElement;
  for (const element of all.querySelectorAll(UNREADABLE.join())) element.remove();
  const article = mainPart(document);
  const hasMain = article?.content !== undefined && lengthOf(article.content) * LEAST_SHARE >= lengthOf(all);
  return {
    title: oneLine(article?.title || title),
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
      // They say in which language code is.
      keepClasses: true,
      serializer: (node) => node as HTMLElement,
    }).parse();
    return parsed === null ? undefined : { title: parsed.title ?? "", content: parsed.content ?? undefined };
  } catch {
    // It gives up on pages that are too large or too strange; these are shown as a whole.
    return undefined;
  }
}

function nameInFull(document: Document, base: string): void {
  for (const [selector, attribute] of [
    ["a[href]", "href"],
    ["img[src]", "src"],
  ] as const) {
    for (const element of document.querySelectorAll(selector)) {
      const given = element.getAttribute(attribute) ?? "";
      const full = URL.canParse(given, base) ? new URL(given, base) : undefined;
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

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
