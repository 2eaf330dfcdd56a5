import { ownCommand } from "@banyan/host/own-command";
import { wrapSentence } from "../../../show/fit-text.ts";
import { type DescribedName, nameLines } from "../../../show/name-lines.ts";
import type { Style } from "../../../show/style.ts";
import type { KeyContext } from "./actions.ts";
import type { KeyRow } from "./key-bindings.ts";

/** Headings in display order. */
const HEADS: Readonly<Record<KeyContext, string>> = {
  prompt: "In the prompt:",
  empty: "In an empty prompt:",
  list: "In lists, the tree and opened pages:",
  tree: "In the tree:",
  page: "In opened pages:",
};

const foot = () => [
  'Change keys under "keys" in your settings file, such as { "keys": { "redraw": ["f5", "ctrl+l"] } }.',
  `\`${ownCommand("config path")}\` shows the path of the settings file. Changes take effect at the next start.`,
];

/** Lists the keys, descriptions and names of all actions (T13). */
export function keyHelpLines(rows: readonly KeyRow[], columns: number, style: Style): string[] {
  const all = rows.map(keyHelpRow);
  const lists = Object.entries(HEADS).flatMap(([context, head]) => {
    const there = all.filter((_, index) => rows[index]?.context === context);
    return [style.bold(head), ...nameLines(there, columns, style, all), ""];
  });
  return [...lists, ...foot().map((sentence) => style.dim(wrapSentence(sentence, columns)))];
}

function keyHelpRow({ action, keys, help, isSet }: KeyRow): DescribedName {
  return { name: [action, `${keys.length === 0 ? "none" : keys.join(", ")}${isSet ? " (yours)" : ""}`], text: help };
}
