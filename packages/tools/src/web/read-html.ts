import { fork } from "node:child_process";
import { onAbort } from "@banyan/core/hosts";
import type { ReadablePage } from "./html-to-markdown.ts";

/** A fetched HTML page and its address. */
export interface PageSource {
  readonly html: string;
  readonly address: string;
}

/** In milliseconds. A usual page takes less than a second. */
const LONGEST = 8000;

/**
 * Parses a page in a separate process, so that a slow, deep or huge page affects only that process. Resolves with
 * undefined if the page fails or takes longer than `longest` milliseconds. Rejects with the signal's reason after an
 * abort.
 */
export async function readHtml(
  source: PageSource,
  signal: AbortSignal,
  longest = LONGEST,
): Promise<ReadablePage | undefined> {
  signal.throwIfAborted();
  const child = fork(new URL("./html-process.ts", import.meta.url), {
    env: {},
    execArgv: [],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const read = Promise.withResolvers<ReadablePage | undefined>();
  const timer = setTimeout(() => read.resolve(undefined), longest);
  using _ = onAbort(signal, () => read.reject(signal.reason));
  child.once("message", (page) => read.resolve(page as ReadablePage));
  child.on("error", () => read.resolve(undefined));
  child.once("exit", () => read.resolve(undefined));
  child.send(source, () => {
    // A send error means that the process has ended, which its exit event reports.
  });
  try {
    return await read.promise;
  } finally {
    clearTimeout(timer);
    child.kill("SIGKILL");
  }
}

/** Returns the text between the tags of a page. Takes linear time. */
export function tagless(html: string): ReadablePage {
  const title = /<title[^<>]*>([^<]*)/i.exec(html)?.[1] ?? "";
  const text = removeBetween(
    removeBetween(removeBetween(html, /<!--/g, /-->/g), /<script/gi, /<\/script[^<>]*>?/gi),
    /<style/gi,
    /<\/style[^<>]*>?/gi,
  )
    .replace(/<\/?(?:p|div|br|li|tr|h[1-6]|section|article|pre|table|ul|ol)\b[^<>]*>/gi, "\n")
    .replace(/<[^<>]*>/g, "");
  return {
    title: decodeHtmlEntities(title).trim(),
    markdown: decodeHtmlEntities(text)
      .replace(/[^\S\n]+/g, " ")
      .replace(/\s*\n\s*/g, "\n")
      .trim(),
  };
}

/** Removes each range from `begin` to the next `end`. Both expressions must be global. */
function removeBetween(text: string, begin: RegExp, end: RegExp): string {
  let kept = "";
  let from = 0;
  for (let found = begin.exec(text); found !== null; found = begin.exec(text)) {
    kept += text.slice(from, found.index);
    end.lastIndex = begin.lastIndex;
    if (end.exec(text) === null) return kept;
    from = end.lastIndex;
    begin.lastIndex = from;
  }
  return kept + text.slice(from);
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', nbsp: " ", "#39": "'" };

function decodeHtmlEntities(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|nbsp|#39);/g, (_, name: string) => ENTITIES[name] ?? "");
}
