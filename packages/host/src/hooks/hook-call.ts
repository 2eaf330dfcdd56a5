import { homedir } from "node:os";
import { resolve } from "node:path";
import type { Json, PermitRequest, Tool } from "@banyan/core";
import type { About } from "@banyan/core/conversation";
import { isJsonRecord } from "@banyan/core/shown";
import { writers } from "../permissions/foreign-rule.ts";
import type { Rule } from "../permissions/match.ts";
import { serverNames, toolRuleNames } from "../permissions/named-tool.ts";
import { pathScope } from "../permissions/place.ts";
import { COMMAND, EDITING, FETCHING, READING, restrainRules, WRITING } from "../permissions/rule.ts";
import { isOfServer, subjectOf } from "../permissions/subject.ts";
import { foreignNames } from "../permissions/tool-names.ts";

/** A tool call, or one of its actions, in the form that hooks of Claude Code and Codex expect. */
export interface HookCall {
  /** All names with which matchers can name the call: those of these programs, and Banyan's. */
  readonly names: readonly string[];
  /** The names that mean the tool itself, not one of its actions. */
  readonly self: readonly string[];
  /** The tool name in a hook's input. */
  nameFor(isFor: (names: readonly string[]) => boolean): string;
  readonly tool_input: Json;
  /** Converts arguments that a hook changed back to the tool's; undefined if the call has no place for them. */
  own(input: Json): Json | undefined;
}

type HookFields = Readonly<Record<string, Json>>;

/** An act of a call, with the fields of a hook's input. */
interface Act {
  /** The name that a hook gets as input, if the hook's matcher includes that name. */
  readonly name: string;
  readonly names: readonly string[];
  /** For each field: the value that hooks see, and the tool's argument that contains this value, if any. */
  readonly fields: Readonly<Record<string, { readonly value: Json | undefined; readonly ours: string | undefined }>>;
}

/** Hooks on an act fire for every tool (S43). A hook on `Write` or `Edit` fires for any change of a file, as rules do. */
const NAMES = {
  run: namesFor(COMMAND),
  change: [...namesFor(WRITING), ...namesFor(EDITING)],
  read: namesFor(READING),
  ask: namesFor(FETCHING),
};

function namesFor(own: string): readonly string[] {
  return [...foreignNames(own), own];
}

/**
 * Describes a call as hooks expect it: `Bash` with a command, `Edit` and `Write` with a `file_path`, `Read`,
 * `WebFetch`, `mcp__server__tool`. A call on several files becomes several calls. For a call of an MCP tool, the first
 * entry is the whole call. A hook that matches this entry does not get the single actions of the call.
 */
export function hookCalls(tool: Tool, input: Json, directory: string): readonly HookCall[] {
  const fields: HookFields = isJsonRecord<HookFields>(input) ? input : {};
  const about = aboutHookedCall(tool, input);
  const acts = hookedActs(tool, about, fields, directory);
  if (isOfServer(tool)) {
    const self = [...toolRuleNames(tool), ...serverNames(tool)];
    const [whole = tool.name] = self;
    const call = { names: self, self, nameFor: () => whole, tool_input: input, own: (changed: Json) => changed };
    return [call, ...acts.map((act) => hookCallForm(act, [], fields))];
  }
  const all = acts.length > 0 ? acts : [{ name: tool.name, names: [], fields: {} }];
  return all.map((act) => hookCallForm(act, namesFor(tool.name), fields));
}

/** Returns the forms of a call that a hook matches. */
export function formsFor(calls: readonly HookCall[], tool: Tool, isFor: (names: readonly string[]) => boolean) {
  const [first] = calls;
  return first && isOfServer(tool) && isFor(first.names) ? [first] : calls.filter(({ names }) => isFor(names));
}

/** Names that a hook's input may have. Other names would imply other fields. */
const TOLD: ReadonlySet<string> = new Set(["Bash", "Write", "Edit", "Read", "WebFetch"]);

function hookCallForm({ name, names, fields }: Act, self: readonly string[], given: HookFields): HookCall {
  const entries = Object.entries(fields).flatMap(([field, { value }]) => (value === undefined ? [] : [[field, value]]));
  const theirs = [name, ...names.filter((each) => TOLD.has(each))];
  return {
    names: [...new Set([...names, ...self])],
    self,
    nameFor: (isFor) => theirs.find((each) => isFor([each])) ?? name,
    tool_input: { ...given, ...Object.fromEntries(entries) } as Json,
    own(changed) {
      if (!isJsonRecord(changed)) return changed;
      const taken = { ...(changed as HookFields) };
      for (const [name, { value, ours }] of Object.entries(fields)) {
        const written = taken[name];
        if (written === undefined || name === ours) continue;
        if (written !== value && ours === undefined) return undefined;
        if (ours !== undefined) taken[ours] = written === value ? (given[ours] as Json) : written;
        if (name in given && ours !== name) taken[name] = given[name] as Json;
        else if (!(name in given)) delete taken[name];
      }
      return taken;
    },
  };
}

function hookedActs(tool: Tool, about: About, fields: HookFields, directory: string): readonly Act[] {
  const { command, paths = [], url, change, untold } = about;
  const argument = (value: Json | undefined) => Object.keys(fields).find((name) => fields[name] === value);
  const field = (value: Json | undefined, ours = argument(value)) => ({ value, ours });
  const acts: Act[] = [];
  if (command !== undefined) acts.push({ name: "Bash", names: NAMES.run, fields: { command: field(command) } });
  for (const { path, access } of paths) {
    const file = { file_path: { value: resolve(directory, path), ours: argument(path) } };
    if (change?.goes !== undefined) {
      const texts = {
        old_string: field(fields[change.goes], change.goes),
        new_string: field(fields[change.comes], change.comes),
      };
      acts.push({ name: "Edit", names: NAMES.change, fields: { ...file, ...texts } });
    } else if (change) {
      const content = field(fields[change.comes], change.comes);
      acts.push({ name: "Write", names: NAMES.change, fields: { ...file, content } });
    } else if (access === "write") {
      // A tool of a server or an agent may only read the file that it names.
      const isUnknown = tool.offeredBy !== undefined && tool.files !== "write";
      acts.push({ name: "Edit", names: isUnknown ? [...NAMES.change, ...NAMES.read] : NAMES.change, fields: file });
    }
    if (access === "read" && (tool.files === "read" || tool.offeredBy !== undefined))
      acts.push({ name: "Read", names: NAMES.read, fields: file });
  }
  if (url !== undefined) acts.push({ name: "WebFetch", names: NAMES.ask, fields: { url: field(url) } });
  if (untold === "command" && command === undefined) acts.push({ name: "Bash", names: NAMES.run, fields: {} });
  const isChange = tool.files === "write";
  if (untold === "files" || (isChange && acts.length === 0)) {
    acts.push({ name: isChange ? "Edit" : "Read", names: isChange ? NAMES.change : NAMES.read, fields: {} });
  }
  if (untold === "act") acts.push({ name: tool.name, names: Object.values(NAMES).flat(), fields: {} });
  return acts;
}

function aboutHookedCall(tool: Tool, input: Json): About {
  try {
    return tool.about?.(input) ?? {};
  } catch {
    return {};
  }
}

/** Returns whether the rule `if` of a hook matches a call, or could match it. The logic is that of deny rules. */
export function coversCall(
  rule: Rule,
  { tool, input }: Pick<PermitRequest, "tool" | "input">,
  directory: string,
): boolean {
  const isWriter = (name: string) => writers.some((writer) => writer === name);
  const subject = subjectOf(tool, input, { scope: pathScope(directory, homedir()), writes: false, isWriter });
  return restrainRules([rule]).some((one) => one.tool === "*" || subject.matches(one) !== "no");
}
