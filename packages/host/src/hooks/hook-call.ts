import { resolve } from "node:path";
import type { Json, Tool } from "@banyan/core";
import { type About, offeredName } from "@banyan/core/conversation";
import { namesOf, serverNames } from "../permissions/named-tool.ts";

/** A call as hooks of Claude Code and codex know it. */
export interface HookCall {
  /** Names that a matcher may mean it by: theirs, and ours. */
  readonly names: readonly string[];
  readonly tool_name: string;
  readonly tool_input: Json;
  /** Arguments that a hook wrote, by the names that the tool has for them. */
  own(input: Json): Json;
}

type Fields = Readonly<Record<string, Json>>;

/**
 * Says of a call what those hooks expect: `Bash` with a command, `Edit` and `Write` with a `file_path`, `Read`, `WebFetch`,
 * `mcp__server__tool`. It is told by what the tool says that its call is about; beside these names stand its own.
 */
export function hookCall(tool: Tool, input: Json, directory: string): HookCall {
  const given: Fields = typeof input === "object" && input !== null && !Array.isArray(input) ? (input as Fields) : {};
  const about = aboutCall(tool, input);
  const renamed = renamedCall(tool, about, given);
  const told = Object.entries(renamed.fields).map(([theirs, ours]) => {
    const value = given[ours];
    return [theirs, theirs === "file_path" && typeof value === "string" ? resolve(directory, value) : value];
  });
  return {
    names: [...new Set([renamed.name, ...namesOf(tool), ...serverNames(tool)])],
    tool_name: renamed.name,
    tool_input: { ...given, ...Object.fromEntries(told) } as Json,
    own(changed) {
      if (typeof changed !== "object" || changed === null || Array.isArray(changed)) return changed;
      const fields = { ...(changed as Fields) };
      for (const [theirs, ours] of Object.entries(renamed.fields)) {
        if (theirs === ours || fields[theirs] === undefined) continue;
        const same = theirs === "file_path" && fields[theirs] === resolve(directory, String(given[ours]));
        fields[ours] = same ? (given[ours] as Json) : (fields[theirs] as Json);
        if (!(theirs in given)) delete fields[theirs];
      }
      return fields;
    },
  };
}

/** What it is called there, and which of its arguments each of their fields is. */
function renamedCall(
  tool: Tool,
  about: About,
  given: Fields,
): { readonly name: string; readonly fields: Readonly<Record<string, string>> } {
  const named = (value: string | undefined) => Object.keys(given).find((name) => given[name] === value);
  const path = about.paths?.length === 1 ? named(about.paths[0]?.path) : undefined;
  const file: Readonly<Record<string, string>> = path === undefined ? {} : { file_path: path };
  const { offeredBy: server, offeredAs } = tool;
  if (server !== undefined && offeredAs !== undefined)
    return { name: offeredName({ server, tool: offeredAs }), fields: {} };
  if (about.command !== undefined) return { name: "Bash", fields: { command: named(about.command) ?? "command" } };
  if (about.change?.goes !== undefined)
    return { name: "Edit", fields: { ...file, old_string: about.change.goes, new_string: about.change.comes } };
  if (about.change) return { name: "Write", fields: { ...file, content: about.change.comes } };
  if (about.url !== undefined) return { name: "WebFetch", fields: {} };
  if (tool.files === "write") return { name: "Edit", fields: file };
  if (tool.files === "read" && path !== undefined) return { name: "Read", fields: file };
  return { name: tool.name, fields: {} };
}

function aboutCall(tool: Tool, input: Json): About {
  try {
    return tool.about?.(input) ?? {};
  } catch {
    // What it cannot tell of, it has only its own name for.
    return {};
  }
}
