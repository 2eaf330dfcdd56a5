import { ownCommand } from "@banyan/host/own-command";
import { type Described, described } from "../show/described.ts";
import { wrap } from "../show/fit-text.ts";
import type { Place } from "../terminal/full/keys/actions.ts";
import type { KeyRow } from "../terminal/full/keys/key-bindings.ts";
import { ASK, type Command, type ConversationContext } from "./command.ts";

/** Where keys are, in the order in which they are listed. */
const HEADS: Readonly<Record<Place, string>> = {
  prompt: "In the prompt:",
  empty: "In an empty prompt:",
  list: "In lists, the tree and what is opened:",
  tree: "In the tree:",
  page: "In what is opened:",
};

const foot = () => [
  'They are changed under "keys" in your settings file, as in { "keys": { "redraw": ["f5", "ctrl+l"] } }.',
  `\`${ownCommand("config path")}\` says where that is; a change counts from the next start on.`,
];

export const keys: Command<ConversationContext> = {
  name: "keys",
  help: "show what each key does, and what it is called where it can be changed",
  anytime: true,
  run({ keys: rows, style, columns, write }) {
    if (!rows) {
      write("Here your system edits the line, with its own keys. Enter sends; Ctrl-C interrupts; Ctrl-D leaves.");
      return ASK;
    }
    const all = rows.map(rowOf);
    for (const [place, head] of Object.entries(HEADS)) {
      const there = all.filter((_, index) => rows[index]?.place === place);
      write(style.bold(head), ...described(there, columns, style, all), "");
    }
    for (const sentence of foot()) write(style.dim(wrap(sentence, columns)));
    return ASK;
  },
};

function rowOf({ action, keys, help, isSet }: KeyRow): Described {
  return { name: [action, `${keys.length === 0 ? "none" : keys.join(", ")}${isSet ? " (yours)" : ""}`], text: help };
}
