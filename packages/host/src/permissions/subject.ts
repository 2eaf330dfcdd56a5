import type { Json, Tool } from "@banyan/core";
import type { About } from "@banyan/core/conversation";
import { addressSubject } from "./address-subject.ts";
import { type Match, strongest } from "./match.ts";
import { pathSubject } from "./path-subject.ts";
import type { PathScope } from "./place.ts";
import { isAbout, parseRule, type Rule } from "./rule.ts";
import { shellSubject } from "./shell/shell-subject.ts";
import { mayBePlace, textSubject, textsIn } from "./text-subject.ts";

/** What a call is about, as rules see it. */
export interface Subject {
  /** Whether a rule that forbids or asks speaks of this call. */
  matches(rule: Rule): Match;
  /** Whether rules together allow the whole call, or it needs none. */
  allowed(rules: readonly Rule[]): boolean;
  /**
   * The rule that would allow this call and calls like it, beside the rules that there are already; undefined where no
   * single safe rule does.
   */
  suggestion(rules: readonly Rule[]): string | undefined;
}

export interface Surroundings {
  readonly scope: PathScope;
  /** Whether files of the workspace may be written without a rule. */
  readonly writes: boolean;
  /** Whether a rule of this name is about a tool that writes files: then it is about what commands write, too. */
  readonly isWriter: (name: string) => boolean;
}

/**
 * What a call is about, as its tool says: the command that it runs, the files and folders that it reads or writes, the
 * address that it asks. Of a call whose tool says none of these, all its texts: a rule that forbids fits when one of them
 * does, a rule that allows when all do, since the model chooses their order. A tool that a server offers may have more to do
 * harm with than it is known to be about: a rule that forbids is held against all its texts, and one that allows must fit
 * every other place that they name too, as the `destination` of a copy (S24).
 */
export function subjectOf(tool: Tool, input: Json, surroundings: Surroundings): Subject {
  const { subject: main, like } = mainSubject(tool, input, surroundings);
  if (tool.offeredBy === undefined) return main;
  const texts = textSubject(tool, input, surroundings);
  const others = like ? textsIn(input).filter(mayBePlace).map(like) : [];
  const allowed = (rules: readonly Rule[]) => [main, ...others].every((place) => place.allowed(rules));
  return {
    matches: (rule) => strongest([main.matches(rule), texts.matches(rule)]),
    allowed,
    suggestion(rules) {
      const suggested = main.suggestion(rules);
      // What is offered covers the call that it is offered for.
      return suggested !== undefined && allowed([...rules, parseRule(suggested)]) ? suggested : undefined;
    },
  };
}

/** With `like`, other texts are judged as the main one is. */
function mainSubject(
  tool: Tool,
  input: Json,
  surroundings: Surroundings,
): { readonly subject: Subject; readonly like?: (text: string) => Subject } {
  const about = aboutCall(tool, input);
  // One that cannot say it is not taken for one that only looks.
  if (!about) return { subject: textSubject({ ...tool, effects: "external" }, input, surroundings) };
  const { command, paths = [], url } = about;
  if (command !== undefined) return { subject: commandOf(tool, shellSubject(command, surroundings)) };
  const [first, ...more] = paths.map(({ path }) => pathSubject(tool, path, surroundings));
  if (first) {
    const like = (other: string) => pathSubject(tool, other, surroundings);
    return { subject: more.length === 0 ? first : together([first, ...more]), like };
  }
  if (url !== undefined) return { subject: addressSubject(tool, url), like: (other) => addressSubject(tool, other) };
  return { subject: textSubject(tool, input, surroundings) };
}

/** A rule that names the tool alone speaks of all its commands. */
function commandOf(tool: Tool, command: Subject): Subject {
  return {
    ...command,
    matches: (rule) => (rule.pattern === undefined && isAbout(rule, tool) ? "yes" : command.matches(rule)),
  };
}

/** Several files: what forbids one of them forbids the call, and each needs to be allowed. */
function together(subjects: readonly Subject[]): Subject {
  return {
    matches: (rule) => strongest(subjects.map((subject) => subject.matches(rule))),
    allowed: (rules) => subjects.every((subject) => subject.allowed(rules)),
    suggestion(rules) {
      const asked = subjects.filter((subject) => !subject.allowed(rules));
      const [suggested, ...others] = new Set(asked.map((subject) => subject.suggestion(rules)));
      return others.length === 0 ? suggested : undefined;
    },
  };
}

/** What a tool says; nothing when it cannot. */
export function aboutCall(tool: Tool, input: Json): About | undefined {
  try {
    return tool.about?.(input) ?? {};
  } catch {
    // Then all its texts are looked at.
    return undefined;
  }
}
