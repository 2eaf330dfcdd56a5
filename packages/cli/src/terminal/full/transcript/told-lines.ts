import { plainText } from "../../../show/plain-text.ts";
import { wrapped } from "../screen/cells.ts";
import type { Theme } from "../theme/theme.ts";

const INDENT = "    ";

/** What a tool or the system has told the model: each of its lines whole, those behind the first one set in. */
export function toldLines(author: string, text: string, width: number, theme: Theme): string[] {
  const [first = "", ...more] = plainText(text.trim()).replaceAll("\t", INDENT).split("\n");
  return [
    ...wrapped(theme.dim(`${author}: ${first}`), width),
    ...more.flatMap((line) => wrapped(theme.dim(line), width - INDENT.length).map((part) => INDENT + part)),
  ];
}
