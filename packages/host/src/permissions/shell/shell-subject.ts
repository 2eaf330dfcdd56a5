import { isAbsolute } from "node:path";
import { expandHome } from "@banyan/tools/named-path";
import { covers, meets, type Rule, type RuleMatch, type Subject, strongest, UNKNOWN } from "../match.ts";
import { isExecutedByPrograms, namesObeyedFile } from "../obeyed-file.ts";
import {
  fitsEvery,
  fitsSome,
  literalGlob,
  pathFromWorkspace,
  type ResolvedPath,
  resolveLiteralPath,
  type SubjectContext,
} from "../place.ts";
import { COMMAND, formatRule, READING, WRITING } from "../rule.ts";
import { mayRun, mayRunText, mayStart, withoutOptions } from "./disguise.ts";
import { harmlessOf, harmlessPattern } from "./harmless.ts";
import { isUnpredictable, mayExecuteInput } from "./inert.ts";
import { allParts, type CommandPart, type OpaquePart, type RedirectPart, type ShellPart } from "./part.ts";
import { readShellCommand } from "./script.ts";
import { commandSuggestion, quotedText, simpleCommandText } from "./suggestion.ts";
import { programOf } from "./wrapper.ts";

/** Tool names in rules about the files of redirects. */
const NAMES = { read: READING, write: WRITING } as const;

/** Files that a redirect may always open. */
const HARMLESS_FILES: ReadonlySet<string> = new Set(["/dev/null", "/dev/stdout", "/dev/stderr"]);

/**
 * Judges a call that runs a command. Deny rules are checked against every part of the command. Allow rules must match
 * parts as a whole, and every part needs one. Redirections to and from files are judged as calls of `write` and `read`.
 *
 * A pattern is compared with the words of a simple command, joined by one space, unquoted, or with quotes around words
 * with blanks if the pattern has quotes; `*` is any text. `git log [harmless]` matches harmless options only (S24).
 * - No pattern allows a command that may execute its standard input (S33): the words do not show what runs.
 * - Patterns can only allow plain words joined by `&&`, `||`, `;` and `|` (S18).
 * - Deny rules also see `/bin/rm` as `rm`, a command after its assignments, and the inner command of a command; they
 * may match a command with their words among its own (S25).
 * - Allow rules do not: the pattern must spell assignments, and a command that runs another (`sudo`, `bash -c`, `find
 * -exec`) needs a rule for each, or one rule that spells both.
 */
export function shellSubject(command: string, surroundings: SubjectContext): Subject {
  const parts = readShellCommand(command);
  // Parts that no rule allows come last.
  const judged = parts.toReversed();
  // Computed on demand: only files need it.
  let moves: boolean | undefined;
  const files = new Map<RedirectPart, ResolvedPath | undefined>();
  const place = (file: RedirectPart): ResolvedPath | undefined => {
    moves ??= [...allParts(parts)].some(changesFolder);
    if (!files.has(file)) files.set(file, placeOfFile(file, moves, surroundings));
    return files.get(file);
  };
  const allowed = (part: ShellPart, rules: readonly Rule[]): boolean => {
    switch (part.kind) {
      case "opaque":
      case "evaluation":
        return false;
      case "file":
        return isFileAllowed(part, place, rules, surroundings);
      case "command": {
        if (rules.length === 0) return false;
        const patterns = rules.flatMap(({ tool, pattern }) =>
          tool === COMMAND && pattern !== undefined ? [pattern] : [],
        );
        return (
          patterns.some((pattern) => allowsCommand(pattern, part, (inner) => allowed(inner, rules))) &&
          !mayExecuteInput(part)
        );
      }
    }
  };
  const everything = (rules: readonly Rule[]): boolean =>
    rules.some(({ tool, pattern }) => tool === COMMAND && (pattern === undefined || pattern === "*"));
  return {
    matches: (rule) => strongest(parts.map((part) => matchesPart(rule, part, place, surroundings))),
    allowed: (rules) => everything(rules) || judged.every((part) => allowed(part, rules)),
    suggestion(rules) {
      const undecided = judged.filter((part) => !allowed(part, rules));
      const [first] = undecided;
      // No rule covers both a command and a file.
      if (first === undefined || undecided.some(({ kind }) => kind !== first.kind)) return undefined;
      const suggested = suggestionFor(first, place, surroundings);
      const fits = (part: ShellPart) => part === first || suggestionFor(part, place, surroundings) === suggested;
      return suggested !== undefined && undecided.every(fits) ? suggested : undefined;
    },
  };
}

function matchesPart(
  rule: Rule,
  part: ShellPart,
  place: (file: RedirectPart) => ResolvedPath | undefined,
  surroundings: SubjectContext,
): RuleMatch {
  switch (part.kind) {
    case "file": {
      if (part.access === "write" ? !surroundings.isWriter(rule.tool) : rule.tool !== READING) return "no";
      if (rule.pattern === undefined) return opensNothing(part) ? "no" : "yes";
      const opened = place(part);
      return opened === undefined ? "perhaps" : fitsSome(rule.pattern, surroundings.scope, opened) ? "yes" : "no";
    }
    case "opaque":
      if (rule.tool === COMMAND) return matchesOpaque(rule.pattern, part);
      return surroundings.isWriter(rule.tool) || rule.tool === READING ? "perhaps" : "no";
    case "evaluation":
      return rule.tool === COMMAND && rule.pattern !== undefined && part.reads && mayRunText(rule.pattern, part.text)
        ? "perhaps"
        : "no";
    case "command": {
      const inner = part.runs?.parts.map((each) => matchesPart(rule, each, place, surroundings)) ?? [];
      return strongest([rule.tool === COMMAND ? matchesCommand(rule.pattern, part) : "no", ...inner]);
    }
  }
}

function matchesCommand(written: string | undefined, part: CommandPart): RuleMatch {
  if (written === undefined) return "yes";
  const command = harmlessOf(written);
  const pattern = command === undefined ? written : `${command} *`;
  const { words, assignments } = part;
  const [name = "", ...rest] = words;
  const program = programOf(words);
  const names = new Set([name, program, program.toLowerCase()]);
  // An unknown piece may contain a slash, so the program's name may begin in it.
  if (name.includes(UNKNOWN)) names.add(name.slice(name.indexOf(UNKNOWN)));
  const bare = withoutOptions(words);
  const texts = [...names].flatMap((first) => [
    [first, ...rest].join(" "),
    ...(bare === undefined ? [] : [[first, ...bare.slice(1)].join(" ")]),
  ]);
  if (assignments.length > 0) texts.push(simpleCommandText(part));
  if (pattern.includes("'")) texts.push(quotedText(part), quotedText({ words, assignments: [] }));
  if (texts.some((text) => covers(pattern, text))) return "yes";
  if (texts.some((text) => text.includes(UNKNOWN) && meets(pattern, text))) return "perhaps";
  return mayRun(pattern, part) || mayStart(pattern, part) ? "perhaps" : "no";
}

/** An unreadable part is denied if it contains the pattern's first word; otherwise, the pattern may match. */
function matchesOpaque(pattern: string | undefined, { text }: OpaquePart): RuleMatch {
  return namesFirstWord(pattern ?? "", text) ? "yes" : "perhaps";
}

/** Returns whether the first word of a pattern occurs in a text that may hold a command. */
export function namesFirstWord(pattern: string, text: string): boolean {
  const first = /^[^\s*]*/.exec(pattern)?.[0] ?? "";
  const words = text.replace(/['"\\]/g, "").split(/[^\w.:@%+-]+/);
  return first === "" || words.includes(first) || text.includes(` ${first} `);
}

function allowsCommand(pattern: string, part: CommandPart, allowed: (inner: ShellPart) => boolean): boolean {
  const { words, assignments, runs, splits } = part;
  if (harmlessOf(pattern) !== undefined)
    return assignments.length === 0 && runs === undefined && harmlessPattern(words, splits) === pattern;
  // A name with a blank must not match a pattern of a name and an argument.
  if (words.length > 0 && !/^[^ \t\n]+$/.test(words[0] ?? "")) return false;
  const text = pattern.includes("'") ? quotedText(part) : simpleCommandText(part);
  if (!covers(pattern, text)) return false;
  const spelled = pattern.split("*", 1)[0] ?? "";
  if (assignments.length > 0 && !`${spelled} `.startsWith(`${assignments.join(" ")} `)) return false;
  if (runs === undefined || runs.parts.every(allowed)) return true;
  if (pattern === text) return ![...allParts(runs.parts)].some(isUnpredictable);
  const [inner] = runs.parts;
  if (runs.at === undefined || inner?.kind !== "command") return false;
  const front = `${[...assignments, ...words.slice(0, runs.at - inner.assignments.length)].join(" ")} `;
  const rest = spelled.startsWith(front) ? pattern.slice(front.length) : "";
  return rest !== "" && !rest.startsWith("*") && allowsCommand(rest, inner, allowed);
}

function isFileAllowed(
  file: RedirectPart,
  place: (file: RedirectPart) => ResolvedPath | undefined,
  rules: readonly Rule[],
  { scope, writes }: SubjectContext,
): boolean {
  if (opensNothing(file)) return true;
  const { access } = file;
  const about = rules.filter(({ tool }) => tool === NAMES[access]);
  // Skip resolving the path if no rule could allow it.
  if (access === "write" && !writes && about.length === 0) return false;
  const opened = place(file);
  if (opened === undefined) return false;
  if (access === "read" && opened.inside) return true;
  const obeyed = access === "write" && isExecutedByPrograms(scope, opened);
  // Unlike the file tools, a shell does not refuse git's hooks and similar files, so patterns must spell hidden names.
  const fits = (pattern: string) =>
    obeyed ? namesObeyedFile(pattern, scope, opened) : fitsEvery(pattern, scope, opened, false);
  if (access === "write" && writes && opened.inside && !obeyed && fits("**")) return true;
  return about.some(({ pattern }) => pattern === undefined || fits(pattern));
}

function opensNothing({ path }: RedirectPart): boolean {
  return path !== undefined && HARMLESS_FILES.has(path);
}

function placeOfFile({ path }: RedirectPart, moves: boolean, { scope }: SubjectContext): ResolvedPath | undefined {
  if (path === undefined) return undefined;
  // The shell has already expanded variables, and knows neither URLs nor other separators.
  const expanded = path.startsWith("~") ? expandHome(path, scope.home) : path;
  return moves && !isAbsolute(expanded) ? undefined : resolveLiteralPath(scope, expanded);
}

/** In another folder, relative paths mean other files. */
function changesFolder(part: ShellPart): boolean {
  if (part.kind === "opaque") return true;
  if (part.kind !== "command") return false;
  const [name = ""] = part.words;
  return ["cd", "pushd", "popd", "source", "."].includes(name) || name.includes(UNKNOWN);
}

function suggestionFor(
  part: ShellPart,
  place: (file: RedirectPart) => ResolvedPath | undefined,
  { scope }: SubjectContext,
): string | undefined {
  if (part.kind === "command") return commandSuggestion(part);
  if (part.kind !== "file") return undefined;
  const opened = place(part);
  if (opened === undefined) return undefined;
  const names = new Set(opened.forms.map((form) => pathFromWorkspace(scope, form) ?? form));
  const [only = ""] = names;
  return names.size === 1 ? formatRule({ tool: NAMES[part.access], pattern: literalGlob(only) }) : undefined;
}
