import { UNKNOWN } from "../match.ts";
import { formatRule } from "../rule.ts";
import { COMMAND } from "../words.ts";
import { harmlessPattern } from "./harmless.ts";
import { allParts, type CommandPart } from "./part.ts";
import { quotedText } from "./text.ts";

/**
 * The rule that an answer "always" would set for a command: the harmless uses of its program, where it is one of them
 * (S24), or it alone; undefined where a rule could not say it.
 */
export function commandSuggestion(part: CommandPart): string | undefined {
  const { words, assignments, runs, splits } = part;
  const harmless = assignments.length > 0 || runs !== undefined ? undefined : harmlessPattern(words, splits);
  return harmless === undefined ? exact(part) : shellRule(harmless);
}

function exact(part: CommandPart): string | undefined {
  if (part.runs && [...allParts(part.runs.parts)].some(({ kind }) => kind === "opaque")) return undefined;
  const text = quotedText(part);
  const fits =
    !text.includes(UNKNOWN) &&
    !text.includes("*") &&
    !text.includes("\n") &&
    text.length <= 500 &&
    !/[ \t]/.test(part.words[0] ?? "");
  // A rule is trimmed when it is read, so a text with blanks at its ends would not come back as it was.
  return fits && text !== "" && text === text.trim() ? shellRule(text) : undefined;
}

function shellRule(pattern: string): string {
  return formatRule({ tool: COMMAND, pattern });
}
