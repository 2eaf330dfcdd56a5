import type { Json, Tool } from "@banyan/core";
import { covers, type Subject } from "./match.ts";
import { fitsSome, type PathScope, resolveNamedPath, type SubjectContext } from "./place.ts";
import { isAbout } from "./rule.ts";

/** Maximum characters of a path on any system. */
export const LONGEST_PATH = 4096;

/**
 * Judges a call whose tool does not describe its arguments. Each text can be a path: a deny rule is compared with the
 * resolved path, and an allow rule matches no path that leads upwards (`src/../..`).
 */
export function textSubject(tool: Tool, input: Json, { scope }: SubjectContext): Subject {
  const texts = textsInArguments(input);
  return {
    matches(rule) {
      if (!isAbout(rule, tool)) return "no";
      const { pattern } = rule;
      return pattern === undefined || texts.some((text) => covers(pattern, text) || leadsTo(pattern, text, scope))
        ? "yes"
        : "no";
    },
    allowed(rules) {
      // A read-only tool is free if it cannot read outside.
      if (tool.effects === "none" && texts.every((text) => !mayBePlace(text) || resolveNamedPath(scope, text).inside))
        return true;
      return rules.some((rule) => isAbout(rule, tool) && (rule.pattern === undefined || fitsAll(rule.pattern, texts)));
    },
    suggestion: () => tool.name,
  };
}

function fitsAll(pattern: string, texts: readonly string[]): boolean {
  return texts.length > 0 && texts.every((text) => covers(pattern, text) && !/(?:^|[\\/])\.\.(?:[\\/]|$)/.test(text));
}

function leadsTo(pattern: string, text: string, scope: PathScope): boolean {
  if (text === "" || text.length > LONGEST_PATH) return false;
  return fitsSome(pattern, scope, resolveNamedPath(scope, text));
}

/** Returns whether a text could name a file or an address: one line with a slash, a tilde, `$HOME` or a dot. */
export function mayBePlace(text: string): boolean {
  const line = text.trim();
  return line.length <= LONGEST_PATH && !/[\n\r]/.test(line) && /[/\\~]|^\$\{?HOME|\.\S|^\.$/.test(line);
}

/** Returns every text in the arguments, at any depth. */
export function textsInArguments(input: Json): string[] {
  const texts: string[] = [];
  const ahead: unknown[] = [input];
  for (let value = ahead.pop(); value !== undefined; value = ahead.pop()) {
    if (typeof value === "string") texts.push(value);
    else if (value !== null && typeof value === "object")
      ahead.push(...Object.values(value).filter((item) => item !== undefined));
  }
  return texts;
}
