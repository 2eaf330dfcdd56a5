import { UNKNOWN } from "../match.ts";
import { COMMAND, formatRule } from "../rule.ts";
import { harmlessPattern } from "./harmless.ts";
import { isUnpredictable, mayExecuteInput } from "./inert.ts";
import { allParts, type CommandPart } from "./part.ts";
import { takesCommands } from "./wide-rule.ts";

/**
 * Returns the rule that an "always" answer sets for a command: the command with harmless options (S24), or this exact
 * command. Undefined if the words do not show what runs (S33).
 */
export function commandSuggestion(part: CommandPart): string | undefined {
  if (mayExecuteInput(part)) return undefined;
  const { words, assignments, runs, splits } = part;
  const harmless = assignments.length > 0 || runs !== undefined ? undefined : harmlessPattern(words, splits);
  return harmless === undefined ? exact(part) : shellRule(harmless);
}

function exact(part: CommandPart): string | undefined {
  if (takesCommands(part.words)) return undefined;
  const inner = part.runs === undefined ? [] : [...allParts(part.runs.parts)];
  if (inner.some((each) => isUnpredictable(each) || (each.kind === "command" && takesCommands(each.words))))
    return undefined;
  const text = quotedText(part);
  const fits =
    !text.includes(UNKNOWN) &&
    !text.includes("*") &&
    !text.includes("\n") &&
    text.length <= 500 &&
    !/[ \t]/.test(part.words[0] ?? "");
  // Reading a rule trims it, so a text with white space at its ends would change.
  return fits && text !== "" && text === text.trim() ? shellRule(text) : undefined;
}

function shellRule(pattern: string): string {
  return formatRule({ tool: COMMAND, pattern });
}

/** Joins the words of a simple command with spaces. */
export function simpleCommandText({ assignments, words }: Pick<CommandPart, "assignments" | "words">): string {
  return [...assignments, ...words].join(" ");
}

/** Quotes words with blanks or quotes, so that different words give different texts. */
export function quotedText({ assignments, words }: Pick<CommandPart, "assignments" | "words">): string {
  return [...assignments, ...words]
    .map((word) => (word === "" || /[\s']/.test(word) ? `'${word.replaceAll("'", "'\\''")}'` : word))
    .join(" ");
}
