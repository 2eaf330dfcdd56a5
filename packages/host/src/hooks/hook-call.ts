import { homedir } from "node:os";
import { resolve } from "node:path";
import type { Json, PermitRequest, Tool } from "@banyan/core";
import type { About } from "@banyan/core/conversation";
import { writers } from "../permissions/foreign-rule.ts";
import { namesOf, serverNames } from "../permissions/named-tool.ts";
import { pathScope } from "../permissions/place.ts";
import { COMMAND, EDITING, FETCHING, READING, type Rule, restrained, WRITING } from "../permissions/rule.ts";
import { subjectOf } from "../permissions/subject.ts";
import { foreignNames } from "../permissions/tool-names.ts";

/** A call, or one act of a call, as hooks of Claude Code and codex know it. */
export interface HookCall {
  /** The names that a matcher may mean it by: theirs, and ours. */
  readonly names: readonly string[];
  /** The names among them that mean the tool itself, and no act. */
  readonly self: readonly string[];
  /** The name that a hook is told. */
  nameFor(isFor: (names: readonly string[]) => boolean): string;
  readonly tool_input: Json;
  /** The arguments that a hook wrote, by the names that the tool has for them; nothing where the call cannot take them. */
  own(input: Json): Json | undefined;
}

type Fields = Readonly<Record<string, Json>>;

/** An act, and what those hooks expect among its arguments. */
interface Act {
  /** The name that a hook is told, if its matcher fits it. */
  readonly name: string;
  /** All names that a matcher may mean the act by. */
  readonly names: readonly string[];
  /** By their name: what a hook is told, and the argument that holds it, where one argument does. */
  readonly fields: Readonly<Record<string, { readonly value: Json | undefined; readonly ours: string | undefined }>>;
}

/** The names of acts. Hooks on an act fire whoever does it (S43); like rules, hooks on `Write` or `Edit` mean a change of files. */
const NAMES = {
  run: namesFor(COMMAND),
  change: [...namesFor(WRITING), ...namesFor(EDITING)],
  read: namesFor(READING),
  ask: namesFor(FETCHING),
};

/** Those of other programs, and ours. */
function namesFor(own: string): readonly string[] {
  return [...foreignNames(own), own];
}

/**
 * Says of a call what those hooks expect: `Bash` with a command, `Edit` and `Write` with a `file_path`, `Read`, `WebFetch`,
 * `mcp__server__tool`. It goes by what the tool says that its call is about. A call that names several files is as many calls
 * for hooks. The first form of a call of an MCP tool is the call as a whole: a hook for it hears of no single act.
 */
export function hookCalls(tool: Tool, input: Json, directory: string): readonly HookCall[] {
  const given: Fields = typeof input === "object" && input !== null && !Array.isArray(input) ? (input as Fields) : {};
  const about = aboutCall(tool, input);
  const acts = actsOf(tool, about, given, directory);
  if (isOfServer(tool)) {
    const self = [...namesOf(tool), ...serverNames(tool)];
    const [whole = tool.name] = self;
    const call = { names: self, self, nameFor: () => whole, tool_input: input, own: (changed: Json) => changed };
    return [call, ...acts.map((act) => formOf(act, [], given))];
  }
  const all = acts.length > 0 ? acts : [{ name: tool.name, names: [], fields: {} }];
  return all.map((act) => formOf(act, namesFor(tool.name), given));
}

/** The forms of a call that a hook is for. */
export function formsFor(calls: readonly HookCall[], tool: Tool, isFor: (names: readonly string[]) => boolean) {
  const [first] = calls;
  return first && isOfServer(tool) && isFor(first.names) ? [first] : calls.filter(({ names }) => isFor(names));
}

function isOfServer({ offeredBy, asAsked }: Tool): boolean {
  return offeredBy !== undefined && !asAsked;
}

/** Names that hooks are told where their matcher means an act so: of other names they would expect other fields. */
const TOLD: ReadonlySet<string> = new Set(["Bash", "Write", "Edit", "Read", "WebFetch"]);

function formOf({ name, names, fields }: Act, self: readonly string[], given: Fields): HookCall {
  const told = Object.entries(fields).flatMap(([field, { value }]) => (value === undefined ? [] : [[field, value]]));
  const theirs = [name, ...names.filter((each) => TOLD.has(each))];
  return {
    names: [...new Set([...names, ...self])],
    self,
    nameFor: (isFor) => theirs.find((each) => isFor([each])) ?? name,
    tool_input: { ...given, ...Object.fromEntries(told) } as Json,
    own(changed) {
      if (typeof changed !== "object" || changed === null || Array.isArray(changed)) return changed;
      const taken = { ...(changed as Fields) };
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

/** The acts of a call, with the fields that hooks look for. */
function actsOf(tool: Tool, about: About, given: Fields, directory: string): readonly Act[] {
  const { command, paths = [], url, change, untold } = about;
  const argument = (value: Json | undefined) => Object.keys(given).find((name) => given[name] === value);
  const field = (value: Json | undefined, ours = argument(value)) => ({ value, ours });
  const acts: Act[] = [];
  if (command !== undefined) acts.push({ name: "Bash", names: NAMES.run, fields: { command: field(command) } });
  for (const { path, access } of paths) {
    const file = { file_path: { value: resolve(directory, path), ours: argument(path) } };
    if (change?.goes !== undefined) {
      const texts = {
        old_string: field(given[change.goes], change.goes),
        new_string: field(given[change.comes], change.comes),
      };
      acts.push({ name: "Edit", names: NAMES.change, fields: { ...file, ...texts } });
    } else if (change) {
      const content = field(given[change.comes], change.comes);
      acts.push({ name: "Write", names: NAMES.change, fields: { ...file, content } });
    } else if (access === "write") {
      // A server or an agent may only read the file that it names.
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

function aboutCall(tool: Tool, input: Json): About {
  try {
    return tool.about?.(input) ?? {};
  } catch {
    // What it cannot tell of, it has only its own name for.
    return {};
  }
}

/** Whether the rule `if` of a hook covers a call, or may cover it: as a deny rule does. */
export function isCovered(
  rule: Rule,
  { tool, input }: Pick<PermitRequest, "tool" | "input">,
  directory: string,
): boolean {
  const isWriter = (name: string) => writers.some((writer) => writer === name);
  const subject = subjectOf(tool, input, { scope: pathScope(directory, homedir()), writes: false, isWriter });
  return restrained([rule]).some((one) => one.tool === "*" || subject.matches(one) !== "no");
}
