import type { Json, Tool } from "@banyan/core";
import type { About } from "@banyan/core/conversation";
import { withoutContent } from "@banyan/tools/acts";
import { actRules } from "./act-rules.ts";
import { addressSubject } from "./address-subject.ts";
import { type Match, strongest } from "./match.ts";
import { pathSubject } from "./path-subject.ts";
import { type PathScope, type Place, placeOf } from "./place.ts";
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
  /** Finds the place of a path, once for a call that names the path several times. */
  readonly place?: (path: string) => Place;
  /** Whether files of the workspace may be written without a rule. */
  readonly writes: boolean;
  /** Whether a rule of this name is about a tool that writes files: then it is about what commands write, too. */
  readonly isWriter: (name: string) => boolean;
}

/**
 * What a call is about, as its tool says: the command that it runs, the files and folders that it reads or writes, the
 * address that it asks. Of a call whose tool says none of these, all its texts: a rule that forbids fits when one of them
 * does, a rule that allows when all do, since the model chooses their order. A tool of another program may have more to do
 * harm with than it is known to be about: a rule that forbids is held against all its texts, and against what the call does
 * (S43); one that allows must fit every other place that they name too, as the `destination` of a copy (S24).
 */
export function subjectOf(tool: Tool, input: Json, around: Surroundings): Subject {
  const about = aboutCall(tool, input);
  const surroundings = tool.offeredBy === undefined ? around : { ...around, place: placesOnce(around.scope) };
  const { subject: main, like } = mainSubject(tool, input, about, surroundings);
  if (tool.offeredBy === undefined) return main;
  const texts = textSubject(tool, input, surroundings);
  const covers = actRules(tool, input, about ?? { untold: "act" }, surroundings);
  // The text that comes into a file names no places.
  const placed = tool.files === "write" ? (withoutContent(input) as Json) : input;
  const others = (): readonly Subject[] => {
    const named = [...(about?.paths ?? []).map(({ path }) => path), ...textsIn(placed).filter(mayBePlace)];
    return like ? [...new Set(named)].map(like) : [];
  };
  const allowed = (rules: readonly Rule[]) => main.allowed(rules) && others().every((place) => place.allowed(rules));
  return {
    matches: (rule) => strongest([main.matches(rule), texts.matches(rule), covers(rule)]),
    allowed,
    suggestion(rules) {
      const suggested = main.suggestion(rules);
      // What is offered covers the call that it is offered for.
      return suggested !== undefined && allowed([...rules, parseRule(suggested)]) ? suggested : undefined;
    },
  };
}

/** Looks once where each path leads. */
function placesOnce(scope: PathScope): (path: string) => Place {
  const places = new Map<string, Place>();
  return (path) => {
    const place = places.get(path) ?? placeOf(scope, path);
    places.set(path, place);
    return place;
  };
}

/** With `like`, other texts are judged as the main one is. */
function mainSubject(
  tool: Tool,
  input: Json,
  about: About | undefined,
  surroundings: Surroundings,
): { readonly subject: Subject; readonly like?: (text: string) => Subject } {
  // One that cannot say it is not taken for one that only looks.
  if (!about) return { subject: textSubject({ ...tool, effects: "external" }, input, surroundings) };
  const { command, paths, url } = about;
  const ofPath = (path: string) => pathSubject(tool, path, surroundings);
  const ofUrl = (address: string) => addressSubject(tool, address);
  const files = (paths ?? []).map(({ path }) => ofPath(path));
  const addresses = url === undefined ? [] : [ofUrl(url)];
  if (command !== undefined) {
    // No rule on commands allows what a server does with one.
    if (isOfServer(tool)) return { subject: textSubject(tool, input, surroundings) };
    return { subject: together([commandOf(tool, shellSubject(command, surroundings)), ...files, ...addresses]) };
  }
  const [first] = files;
  if (first) return { subject: tool.offeredBy === undefined ? together(files) : first, like: ofPath };
  if (addresses.length > 0) return { subject: together(addresses), like: ofUrl };
  if (paths && tool.offeredBy === undefined && tool.effects === "none") return { subject: ofNoPlace(tool) };
  return { subject: textSubject(tool, input, surroundings) };
}

/** A call that looks at no file and says so: only a rule that names the tool alone speaks of it (F98). */
function ofNoPlace(tool: Tool): Subject {
  return {
    matches: (rule) => (rule.pattern === undefined && isAbout(rule, tool) ? "yes" : "no"),
    allowed: () => true,
    suggestion: () => tool.name,
  };
}

function isOfServer({ offeredBy, asAsked }: Tool): boolean {
  return offeredBy !== undefined && !asAsked;
}

/** A rule that names the tool alone speaks of all its commands. */
function commandOf(tool: Tool, command: Subject): Subject {
  return {
    ...command,
    matches: (rule) => (rule.pattern === undefined && isAbout(rule, tool) ? "yes" : command.matches(rule)),
  };
}

/** Several things: what forbids one of them forbids the call, and each needs to be allowed. */
function together(subjects: readonly Subject[]): Subject {
  const [only, ...more] = subjects;
  if (only && more.length === 0) return only;
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
