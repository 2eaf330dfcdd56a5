import type { Arguments } from "./arguments.ts";

/** What a command line without words says: what is so where nothing is said. */
export const NO_WORDS: Arguments = {
  print: false,
  continue: false,
  output: "text",
  limits: {},
  allow: [],
  deny: [],
  trust: false,
  color: "auto",
  plain: false,
  quiet: false,
};
