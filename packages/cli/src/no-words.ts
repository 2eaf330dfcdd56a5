import type { Arguments } from "./arguments.ts";

/** Arguments of an empty command line: the defaults. */
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
