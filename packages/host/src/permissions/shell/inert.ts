import { UNKNOWN } from "../match.ts";
import { harmlessPattern } from "./harmless.ts";
import { ALWAYS_HARMLESS } from "./harmless-table.ts";
import type { CommandPart, ShellPart } from "./part.ts";
import { namesInput } from "./wrapper.ts";

/** Programs that run neither the words behind them nor their standard input. */
const INERT: ReadonlySet<string> = new Set(
  "cd chgrp chmod chown dd exit fmt gunzip gzip iconv mkdir mkfifo mktemp pr rm rmdir set shuf tee touch truncate umask unlink xxd xz yes zcat".split(
    " ",
  ),
);
/** Commands of git that run no words of theirs, but for options that name programs. */
const GIT_INERT: ReadonlySet<string> = new Set(
  "add am apply archive blame branch cat-file checkout cherry-pick clean commit describe diff fetch grep init log ls-files ls-tree merge merge-base mv notes pull push reflog reset restore rev-list rev-parse revert rm shortlog show stash status switch tag worktree".split(
    " ",
  ),
);
/** Options that name programs, by the beginnings that git takes for them. */
const GIT_RUNS = /^(?:-c|-O|-u|-x|-s|--(?:conf|e|gpg|op|ou|pa|re|st|te|u))|^ext::/;
/** Commands of git that run nothing, and write the files that their input names. */
const GIT_OBEYS_INPUT: ReadonlySet<string> = new Set(["am", "apply"]);
/** Programs that are inert as long as they keep to their harmless options. */
const HARMLESS_INERT = /^(?:awk|base64|column|date|diff|fd|file|find|rg|sed|sort|tree|uniq) /;
/** Variables that choose a language and nothing else. */
const LOCALE = /^(?:LANG|LC_[A-Z]+|TZ)=[\w.@-]*$/;

/** Whether a part is known to run neither its words nor its standard input. */
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
  // A test or a build hands its words on to programs that nobody here knows.
  return HARMLESS_INERT.test(harmlessPattern(words, splits) ?? "");
}

/**
 * Whether a command has a standard input and may execute it, or may write the files that the input names (S33). Every
 * program may that is not known to be inert. No rule of words allows such a command, because another input does something
 * else with the same words.
 */
export function mayExecuteInput(part: CommandPart): boolean {
  const { words, assignments } = part;
  // `bash /dev/stdout >> script` reads the script.
  if (!part.hasInput && !words.some(namesInput)) return false;
  if (!isInert(part) || assignments.some((text) => !LOCALE.test(text))) return true;
  return words[0] === "git" && GIT_OBEYS_INPUT.has(words[1] ?? "");
}

/** Whether a part does something that its words do not tell, so that no rule of words can allow it. */
export function isUnpredictable(part: ShellPart): boolean {
  return part.kind === "opaque" || (part.kind === "command" && mayExecuteInput(part));
}
