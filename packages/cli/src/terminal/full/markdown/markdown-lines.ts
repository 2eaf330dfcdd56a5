import type { Look } from "./look.ts";
import { MarkdownStream } from "./markdown-stream.ts";

/** A whole text in Markdown, which must be plain by then (S12), as lines of a width. */
export function markdownLines(text: string, width: number, look: Look): readonly string[] {
  const stream = new MarkdownStream();
  stream.push(text);
  stream.end();
  return stream.show(width, Number.MAX_SAFE_INTEGER, look).finished;
}
