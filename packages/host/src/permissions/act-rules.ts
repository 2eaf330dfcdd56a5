import type { Json, Tool } from "@banyan/core";
import type { About } from "@banyan/core/conversation";
import { withoutContent } from "@banyan/tools/acts";
import { addressSubject } from "./address-subject.ts";
import { type Rule, type RuleMatch, strongest } from "./match.ts";
import { fitsSome, type ResolvedPath, resolveNamedPath, type SubjectContext } from "./place.ts";
import { COMMAND, changesFiles, FETCHING, READING } from "./rule.ts";
import { namesFirstWord, shellSubject } from "./shell/shell-subject.ts";
import { LONGEST_PATH, textsInArguments } from "./text-subject.ts";

/**
 * Returns a function for calls of another program's tools (S43). It tells whether a deny or ask rule on `write`,
 * `edit`, `read`, `shell` or `fetch` covers the call. The call's arguments decide, because the other program chooses
 * the tool's name. `perhaps`: the arguments do not show whether the rule covers the call.
 */
export function actRules(
  tool: Tool,
  input: Json,
  about: About,
  surroundings: SubjectContext,
): (rule: Rule) => RuleMatch {
  const { scope, place: placeAt = (path: string) => resolveNamedPath(scope, path) } = surroundings;
  const { command, paths = [], url, untold } = about;
  const shell = command === undefined ? undefined : shellSubject(command, surroundings);
  const named = paths.map(({ path, access }) => ({ place: placeAt(path), access }));
  const isTold = command !== undefined || paths.length > 0 || url !== undefined;
  let texts: readonly string[] | undefined;
  let places: readonly ResolvedPath[] | undefined;
  const others = () => (texts ??= textsInArguments(withoutContent(input) as Json));
  const otherPlaces = () =>
    (places ??= others().flatMap((text) => (text !== "" && text.length <= LONGEST_PATH ? placeAt(text) : [])));

  const ofFiles = (rule: Rule): RuleMatch => {
    const { pattern } = rule;
    const isOnWriting = changesFiles(rule.tool);
    for (const { place, access } of named) {
      if (pattern !== undefined && !fitsSome(pattern, scope, place)) continue;
      // A caller that claims to only read may be wrong.
      if (!isOnWriting || access === "write") return "yes";
    }
    if (pattern === undefined) {
      if (untold === "files" && (!isOnWriting || tool.files === "write")) return "yes";
      return named.length > 0 || !isTold || untold !== undefined ? "perhaps" : "no";
    }
    const mayFit = ({ place }: { readonly place: ResolvedPath }) => fitsSome(pattern, scope, place);
    if (untold !== undefined || named.some(mayFit)) return "perhaps";
    return otherPlaces().some((place) => mayFit({ place })) ? "perhaps" : "no";
  };
  const ofCommands = ({ pattern }: Rule): RuleMatch => {
    if (pattern === undefined) return untold === "command" ? "yes" : untold !== undefined || !isTold ? "perhaps" : "no";
    if (untold !== undefined) return "perhaps";
    return command === undefined && others().some((text) => namesFirstWord(pattern, text)) ? "perhaps" : "no";
  };
  const ofAddresses = (rule: Rule): RuleMatch =>
    strongest(
      [url ?? [], others().filter((text) => /^https?:/i.test(text))]
        .flat()
        .map((address) => addressSubject({ name: FETCHING }, address).matches(rule)),
    );

  return (rule) => {
    const ofCommand = shell?.matches(rule) ?? "no";
    if (ofCommand === "yes") return "yes";
    if (rule.tool === COMMAND) return strongest([ofCommand, ofCommands(rule)]);
    if (rule.tool === READING || changesFiles(rule.tool)) return strongest([ofCommand, ofFiles(rule)]);
    return rule.tool === FETCHING ? ofAddresses(rule) : ofCommand;
  };
}
