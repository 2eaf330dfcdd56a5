import { extname } from "node:path";
import { linesInWords } from "../files/text-content.ts";
import { formatAddress } from "./address.ts";
import type { ArmedFile } from "./armed-file.ts";
import { isMarkdown } from "./capture.ts";

const LAST =
  "Once your message is complete, all blocks for the file are applied, or none; you then get a report. " +
  "A block that is only an example must have no colon after its language.";

/** Returns the result of `edit_mode` for a file: how to write the code blocks. */
export function instructions(file: ArmedFile): string {
  const fence = "`".repeat(3);
  const address = (place: string, isNamed = false) =>
    fence + formatAddress(file, extname(file.path).slice(1) || "text", place, isNamed);
  const lines = file.snapshot?.lines ?? 0;
  const longer = longerFence(file);
  switch (file.mode) {
    case "lines":
      return [
        `${file.path} is open for editing and has ${linesInWords(lines)}. Nothing is written yet: write each change in your next message, as a fenced block that begins with`,
        "",
        address("START:END"),
        "",
        "- It replaces the lines from START up to END, without END. Lines count from 1, as read shows them.",
        `- With START = END it inserts before START; ${lines + 1}:${lines + 1} appends. A block without lines deletes.`,
        "- All numbers are those of the file as it is now. Blocks must not overlap.",
        "- Write whole lines, with their indentation.",
        `- If more files are open, name the file: ${address("START:END", true)}`,
        ...longer,
        LAST,
      ].join("\n");
    case "symbol":
      return [
        `${file.path} is open for editing. Nothing is written yet: write each change in your next message, as a fenced block that begins with`,
        "",
        address("Class.method"),
        "",
        "- It replaces the whole symbol, with the comments and decorators above it. Name it as it is nested: function, Class, Class.method.",
        `- ${address("Class.method:before")} and ${address("Class.method:after")} insert before and after it. ${address("Class.method:remove")}, without lines, removes it.`,
        "- Write whole lines, with their indentation.",
        `- If more files are open, name the file: ${address("Class.method", true)}`,
        ...longer,
        LAST,
      ].join("\n");
    case "complete":
      return [
        `${file.path} ${file.snapshot ? "will be replaced" : "is new"}. Nothing is written yet: write the whole file in your next message, as one fenced block that begins with`,
        "",
        address(""),
        "",
        `- If more files are open, or the message has other fences, name the file: ${address("", true)}`,
        ...longer,
        LAST,
      ].join("\n");
  }
}

function longerFence({ path, snapshot }: ArmedFile): string[] {
  const longest = snapshot?.longestFence ?? 0;
  if (longest === 0 && !isMarkdown(path)) return [];
  const longer = "`".repeat(Math.max(longest, 3) + 1);
  return [`- Around text that contains fences, write a longer fence: ${longer}`];
}
