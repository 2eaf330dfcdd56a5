import { UNKNOWN } from "../match.ts";
import { harmlessPattern } from "./harmless.ts";
import { ALWAYS_HARMLESS } from "./harmless-table.ts";
import type { CommandPart, ShellPart } from "./part.ts";
import { namesInput } from "./wrapper.ts";

/** Programs that run neither their words nor their standard input. */
const INERT: ReadonlySet<string> = new Set(
  "cd chgrp chmod chown dd exit fmt gunzip gzip iconv mkdir mkfifo mktemp pr rm rmdir set shuf tee touch truncate umask unlink xxd xz yes zcat".split(
    " ",
  ),
);
/** Git commands that run none of their words, except by options that name programs. */
const GIT_INERT: ReadonlySet<string> = new Set(
  "add am apply archive blame branch cat-file checkout cherry-pick clean commit describe diff fetch grep init log ls-files ls-tree merge merge-base mv notes pull push reflog reset restore rev-list rev-parse revert rm shortlog show stash status switch tag worktree".split(
    " ",
  ),
);
/** Options that name programs, with the abbreviations that git accepts. */
const GIT_RUNS = /^(?:-c|-O|-u|-x|-s|--(?:conf|e|gpg|op|ou|pa|re|st|te|u))|^ext::/;
/** Git commands that run nothing, but write files that their input names. */
const GIT_OBEYS_INPUT: ReadonlySet<string> = new Set(["am", "apply"]);
/** Programs that are inert with harmless options. */
const HARMLESS_INERT = /^(?:awk|base64|column|date|diff|fd|file|find|rg|sed|sort|tree|uniq) /;
/** Variables that only choose a language. */
const LOCALE = /^(?:LANG|LC_[A-Z]+|TZ)=[\w.@-]*$/;

/** Returns whether a part of a shell script is known to execute neither its arguments nor its standard input. */
export function isInert(part: ShellPart): boolean {
  if (part.kind === "file") return true;
  if (part.kind !== "command" || part.runs !== undefined) return false;
  const { words, splits } = part;
  const [name = "", second = "", ...rest] = words;
  if (words.length === 0 || name.includes("/")) return words.length === 0;
  if (name === "command") return second === "-v" || second === "-V";
  if (ALWAYS_HARMLESS.has(name) || INERT.has(name)) return true;
  if (name === "git")
    return GIT_INERT.has(second) && !splits && !rest.some((word) => GIT_RUNS.test(word) || word.startsWith(UNKNOWN));
  // A test or build passes its words to unknown programs.
  return HARMLESS_INERT.test(harmlessPattern(words, splits) ?? "");
}

/**
 * Returns whether a command can execute its standard input, or write files that the input names (S33). Every program
 * can, unless it is known not to. No rule allows such a command, because another input changes what the command does.
 */
export function mayExecuteInput(part: CommandPart): boolean {
  const { words, assignments } = part;
  // `bash /dev/stdout >> script` reads the script.
  if (!part.hasInput && !words.some(namesInput)) return false;
  if (!isInert(part) || assignments.some((text) => !LOCALE.test(text))) return true;
  return words[0] === "git" && GIT_OBEYS_INPUT.has(words[1] ?? "");
}

/** Returns true if a part can do more than its words show. No rule can allow such a part. */
export function isUnpredictable(part: ShellPart): boolean {
  return part.kind === "opaque" || (part.kind === "command" && mayExecuteInput(part));
}
