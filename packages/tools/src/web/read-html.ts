import { fork } from "node:child_process";
import type { ReadablePage } from "./html-to-markdown.ts";

/** A page as it came. */
export interface PageSource {
  readonly html: string;
  readonly address: string;
}

/** Milliseconds. A page of the usual kind takes less than one second of this. */
const LONGEST = 8000;

/**
 * Reads a page in a process of its own, so that one that was built to be slow, deep or large holds nobody up and ends nothing
 * but that. Resolves with undefined when the page was too much, or took longer than so many milliseconds; rejects with the
 * signal's reason when it aborts.
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
  const onAbort = () => read.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  child.once("message", (page) => read.resolve(page as ReadablePage));
  child.on("error", () => read.resolve(undefined));
  child.once("exit", () => read.resolve(undefined));
  child.send(source, () => {
    // Whoever does not take it has ended, which is heard of.
  });
  try {
    return await read.promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    child.kill("SIGKILL");
  }
}

/** The text between the tags of a page, without order or form; in a time that only grows with its length. */
export function tagless(html: string): ReadablePage {
  const title = /<title[^<>]*>([^<]*)/i.exec(html)?.[1] ?? "";
  const text = without(
    without(without(html, /<!--/g, /-->/g), /<script/gi, /<\/script[^<>]*>?/gi),
    /<style/gi,
    /<\/style[^<>]*>?/gi,
  )
    .replace(/<\/?(?:p|div|br|li|tr|h[1-6]|section|article|pre|table|ul|ol)\b[^<>]*>/gi, "\n")
    .replace(/<[^<>]*>/g, "");
  return {
    title: plain(title).trim(),
    markdown: plain(text)
      .replace(/[^\S\n]+/g, " ")
      .replace(/\s*\n\s*/g, "\n")
      .trim(),
  };
}

/** A text without what lies between a beginning and the end that follows it. Both are global. */
function without(text: string, begin: RegExp, end: RegExp): string {
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

function plain(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|nbsp|#39);/g, (_, name: string) => ENTITIES[name] ?? "");
}
