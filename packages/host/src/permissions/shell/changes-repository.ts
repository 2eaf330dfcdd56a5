import { withoutOptions } from "./disguise.ts";
import { allParts, type CommandPart } from "./part.ts";
import { readShellCommand } from "./script.ts";
import { programOf } from "./wrapper.ts";

/** Subcommands of git that change no repository, whatever their arguments are. */
const READERS: ReadonlySet<string> = new Set([
  ...["annotate", "apply", "archive", "blame", "cat-file", "check-attr", "check-ignore", "cherry", "count-objects"],
  ...["describe", "diff", "diff-files", "diff-index", "diff-tree", "for-each-ref", "grep", "help", "log", "ls-files"],
  ...["ls-remote", "ls-tree", "merge-base", "name-rev", "rev-list", "rev-parse", "shortlog", "show", "show-branch"],
  ...["show-ref", "status", "var", "verify-commit", "verify-tag", "version", "whatchanged"],
]);

/** Subcommands that change no repository with one of these next words. The empty word: without a next word. */
const READING_WORDS: Readonly<Record<string, readonly string[]>> = {
  branch: ["", "-a", "-r", "-v", "-vv", "--all", "--list", "--show-current"],
  config: ["-l", "--get", "--get-all", "--list", "get", "list"],
  notes: ["", "list", "show"],
  reflog: ["", "show", "list"],
  remote: ["", "-v", "--verbose", "get-url", "show"],
  stash: ["list", "show"],
  submodule: ["", "status", "summary"],
  tag: ["", "-l", "--list"],
  worktree: ["list"],
};

/**
 * Returns the subcommand of git in a shell command that may change a repository, such as `commit`; undefined if the
 * command shows none. A program that runs git by itself is not seen: approval mode `sandbox` then makes git fail (S37).
 */
export function repositoryChange(command: string): string | undefined {
  for (const part of allParts(readShellCommand(command))) {
    const found = part.kind === "command" ? changeBy(part) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function changeBy({ words }: CommandPart): string | undefined {
  if (programOf(words).toLowerCase() !== "git") return undefined;
  const [, subcommand, next = ""] = withoutOptions(words) ?? words;
  if (subcommand === undefined || READERS.has(subcommand)) return undefined;
  const reading = Object.hasOwn(READING_WORDS, subcommand) ? READING_WORDS[subcommand] : undefined;
  return reading?.includes(next) ? undefined : subcommand;
}
