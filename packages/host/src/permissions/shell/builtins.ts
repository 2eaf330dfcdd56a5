import { UNKNOWN } from "../match.ts";
import { beyondWords, type Findings, unclear } from "./word.ts";

/** Builtins that evaluate subscripts in their arguments, or set a variable by name. */
const EVALUATING: ReadonlySet<string> = new Set(
  "let declare typeset local export readonly unset read mapfile readarray getopts wait".split(" "),
);
/** Builtins after which later words may mean something else: other variables, functions, commands behind names. */
const SETTING: ReadonlySet<string> = new Set(
  ". alias bind compgen complete compopt enable eval exec fc hash history shift shopt source trap unalias".split(" "),
);
/** With these a POSIX shell keeps the assignments that stand in front of a command. */
const SPECIAL: ReadonlySet<string> = new Set(
  ": . break continue eval exec exit export readonly return set shift times trap unset".split(" "),
);

/** Takes note of what a simple command evaluates, or sets for those behind it. */
export function noteBuiltin(words: readonly string[], assignments: readonly string[], found: Findings): void {
  const [name = "", first] = words;
  const tests =
    (name === "test" || name === "[") &&
    words.some((word, at) => at > 0 && (/^-[vR]/.test(word) || word.includes(UNKNOWN)));
  if (EVALUATING.has(name) || tests) found.evaluates = true;
  if (found.evaluates || SETTING.has(name)) beyondWords(found, `${name} can set or evaluate something`);
  if (name === "set" && !isStrictness(words.slice(1))) beyondWords(found, "set can change what later words mean");
  if (assignments.length > 0 && (words.length === 0 || SPECIAL.has(name)))
    beyondWords(found, "it sets a variable for what follows");
  if (words.length > 0 && name !== "[" && !/^[\w@%+:,./^-]+$/.test(name))
    beyondWords(found, "the name of a command is not plain");
  if (name === "printf" && first !== undefined && (first.startsWith("-v") || first.startsWith(UNKNOWN))) {
    found.evaluates = true;
    unclear(found, "printf may set a variable");
  }
}

/** `set -e`, `set -euo pipefail`: when a script ends, and nothing else. */
function isStrictness(words: readonly string[]): boolean {
  return words.length > 0 && /^(?:[-+][eux]+|[-+][eux]*o pipefail|\s)+$/.test(words.join(" "));
}
