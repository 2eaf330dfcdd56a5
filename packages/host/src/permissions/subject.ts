import type { Json, Tool } from "@banyan/core";
import type { About } from "@banyan/core/conversation";
import { withoutContent } from "@banyan/tools/acts";
import { actRules } from "./act-rules.ts";
import { addressSubject } from "./address-subject.ts";
import { type Rule, type Subject, strongest } from "./match.ts";
import { pathSubject } from "./path-subject.ts";
import { type PathScope, type ResolvedPath, resolveNamedPath, type SubjectContext } from "./place.ts";
import { isAbout, parseRule } from "./rule.ts";
import { shellSubject } from "./shell/shell-subject.ts";
import { mayBePlace, textSubject, textsInArguments } from "./text-subject.ts";

/**
 * Converts a call to the form that rules judge. The tool describes the command, files, folders or address. Without a
 * description, a deny rule matches if it matches any text of the arguments, but an allow rule must match all texts. For
 * another program's tool, deny rules also match all texts and acts (S43), and allow rules must match every path in its
 * texts, such as the `destination` of a copy (S24).
 */
export function subjectOf(tool: Tool, input: Json, around: SubjectContext): Subject {
  const about = describeCallForRules(tool, input);
  const surroundings = tool.offeredBy === undefined ? around : { ...around, place: placesOnce(around.scope) };
  const { subject: main, like } = mainSubject(tool, input, about, surroundings);
  if (tool.offeredBy === undefined) return main;
  const texts = textSubject(tool, input, surroundings);
  const covers = actRules(tool, input, about ?? { untold: "act" }, surroundings);
  // The new content of a file names no places.
  const placed = tool.files === "write" ? (withoutContent(input) as Json) : input;
  const others = (): readonly Subject[] => {
    const named = [...(about?.paths ?? []).map(({ path }) => path), ...textsInArguments(placed).filter(mayBePlace)];
    return like ? [...new Set(named)].map(like) : [];
  };
  const allowed = (rules: readonly Rule[]) => main.allowed(rules) && others().every((place) => place.allowed(rules));
  return {
    matches: (rule) => strongest([main.matches(rule), texts.matches(rule), covers(rule)]),
    allowed,
    suggestion(rules) {
      const suggested = main.suggestion(rules);
      // Offer a rule only if it would allow this very call.
      return suggested !== undefined && allowed([...rules, parseRule(suggested)]) ? suggested : undefined;
    },
  };
}

function placesOnce(scope: PathScope): (path: string) => ResolvedPath {
  const places = new Map<string, ResolvedPath>();
  return (path) => {
    const place = places.get(path) ?? resolveNamedPath(scope, path);
    places.set(path, place);
    return place;
  };
}

/** `like` makes subjects for other texts of the same kind. */
function mainSubject(
  tool: Tool,
  input: Json,
  about: About | undefined,
  surroundings: SubjectContext,
): { readonly subject: Subject; readonly like?: (text: string) => Subject } {
  // A tool that failed to describe its call must not count as read-only.
  if (!about) return { subject: textSubject({ ...tool, effects: "external" }, input, surroundings) };
  const { command, paths, url } = about;
  const ofPath = (path: string) => pathSubject(tool, path, surroundings);
  const ofUrl = (address: string) => addressSubject(tool, address);
  const files = (paths ?? []).map(({ path }) => ofPath(path));
  const addresses = url === undefined ? [] : [ofUrl(url)];
  if (command !== undefined) {
    // No rule on commands allows the command of an MCP server's tool.
    if (isOfServer(tool)) return { subject: textSubject(tool, input, surroundings) };
    return {
      subject: joinSubjects([commandSubject(tool, shellSubject(command, surroundings)), ...files, ...addresses]),
    };
  }
  const [first] = files;
  if (first) return { subject: tool.offeredBy === undefined ? joinSubjects(files) : first, like: ofPath };
  if (addresses.length > 0) return { subject: joinSubjects(addresses), like: ofUrl };
  if (paths && tool.offeredBy === undefined && tool.effects === "none") return { subject: ofNoPlace(tool) };
  return { subject: textSubject(tool, input, surroundings) };
}

/** For a call that looks at no file, only rules that name the tool alone match (F98). */
function ofNoPlace(tool: Tool): Subject {
  return {
    matches: (rule) => (rule.pattern === undefined && isAbout(rule, tool) ? "yes" : "no"),
    allowed: () => true,
    suggestion: () => tool.name,
  };
}

/** True for a tool of an MCP server if rules judge its calls only as a whole. */
export function isOfServer({ offeredBy, asAsked }: Tool): boolean {
  return offeredBy !== undefined && !asAsked;
}

/** A rule that names only the tool matches all its commands. */
function commandSubject(tool: Tool, command: Subject): Subject {
  return {
    ...command,
    matches: (rule) => (rule.pattern === undefined && isAbout(rule, tool) ? "yes" : command.matches(rule)),
  };
}

/** A rule that denies one subject denies the call, and every subject must be allowed. */
function joinSubjects(subjects: readonly Subject[]): Subject {
  const [only, ...more] = subjects;
  if (only && more.length === 0) return only;
  return {
    matches: (rule) => strongest(subjects.map((subject) => subject.matches(rule))),
    allowed: (rules) => subjects.every((subject) => subject.allowed(rules)),
    suggestion(rules) {
      const undecided = subjects.filter((subject) => !subject.allowed(rules));
      const [suggested, ...others] = new Set(undecided.map((subject) => subject.suggestion(rules)));
      return others.length === 0 ? suggested : undefined;
    },
  };
}

/** Returns our writing tool as a reading tool, if this call only reads files. */
export function asReader(tool: Tool, input: Json): Tool {
  if (tool.offeredBy !== undefined || tool.files !== "write") return tool;
  const { looksAt, paths = [] } = describeCallForRules(tool, input) ?? {};
  const reads = looksAt !== undefined && paths.length > 0 && paths.every(({ access }) => access === "read");
  return reads ? { ...tool, effects: "none", files: "read" } : tool;
}

/** Returns the tool's description of a call; undefined if that fails. */
export function describeCallForRules(tool: Tool, input: Json): About | undefined {
  try {
    return tool.about?.(input) ?? {};
  } catch {
    return undefined;
  }
}
