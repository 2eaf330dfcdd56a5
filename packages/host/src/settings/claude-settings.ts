import { type HookEntries, hookEntries, hookEvents } from "../hooks/entries.ts";
import { type StatusLineEntry, statusLineEntry } from "../hooks/status-line.ts";
import type { SettingsFault } from "./fault.ts";
import { readJsonFile } from "./json-file.ts";
import { isPlainObject } from "./key.ts";

/** What was read in place, and what of it does not run here. */
export interface ClaudeSettings {
  readonly hooks: HookEntries;
  readonly statusLine?: StatusLineEntry | undefined;
  readonly faults: readonly SettingsFault[];
}

/**
 * The hooks and the status line that Claude Code's settings files of a project hold, `.claude/settings.json` and the person's own beside it, each
 * read as it is. What only Claude Code knows is passed over and said: a point that is none here, a hook that is no command.
 * Throws nothing.
 */
export function readClaudeSettings(files: readonly string[]): ClaudeSettings {
  return files.map(readFile).reduce(together, { hooks: {}, faults: [] });
}

/** Hooks of both, point by point. */
export function joinedHooks(one: HookEntries = {}, other: HookEntries = {}): HookEntries {
  const points = hookEvents.filter((event) => one[event] || other[event]);
  return Object.fromEntries(points.map((event) => [event, [...(one[event] ?? []), ...(other[event] ?? [])]]));
}

function together(one: ClaudeSettings, other: ClaudeSettings): ClaudeSettings {
  return {
    hooks: joinedHooks(one.hooks, other.hooks),
    statusLine: other.statusLine ?? one.statusLine,
    faults: [...one.faults, ...other.faults],
  };
}

function readFile(source: string): ClaudeSettings {
  const json = readJsonFile(source);
  if (json.state === "faulty") return { hooks: {}, faults: [json.fault] };
  if (json.state === "absent" || !isPlainObject(json.value)) return { hooks: {}, faults: [] };
  const { hooks, statusLine, disableAllHooks } = json.value;
  if (disableAllHooks === true) return { hooks: {}, faults: [] };
  return Object.entries(isPlainObject(hooks) ? hooks : {})
    .flatMap(([event, groups]) => commandsOf(event, groups).map((group) => readGroup(source, event, group)))
    .reduce(together, readStatusLine(source, statusLine));
}

function readStatusLine(source: string, value: unknown): ClaudeSettings {
  if (value === undefined) return { hooks: {}, faults: [] };
  const { data, error } = statusLineEntry.safeParse(value);
  if (data) return { hooks: {}, statusLine: data, faults: [] };
  const advice = `expected ${error.issues[0]?.message}`;
  return { hooks: {}, faults: [{ source, key: "statusLine", problem: "it does not run here", advice }] };
}

/** Groups of one hook each, so that one that does not run here hides no other. */
function commandsOf(event: string, groups: unknown): unknown[] {
  if (!Array.isArray(groups)) return [groups];
  // Of a point that is none here all is said once.
  if (!hookEvents.some((known) => known === event)) return [undefined];
  return groups.flatMap((group: unknown) =>
    isPlainObject(group) && Array.isArray(group.hooks)
      ? group.hooks.map((hook) => ({ ...group, hooks: [hook] }))
      : [group],
  );
}

function readGroup(source: string, event: string, group: unknown): ClaudeSettings {
  const { data, error } = hookEntries.safeParse({ [event]: [group] });
  if (data) return { hooks: data, faults: [] };
  const isKnown = hookEvents.some((known) => known === event);
  const problem = isKnown ? "a hook there does not run here" : "there is no such point here, so its hooks do not run";
  const [issue] = error.issues;
  const advice = isKnown ? `expected ${issue?.message}` : `expected ${hookEvents.join(", ")}`;
  return { hooks: {}, faults: [{ source, key: `hooks.${event}`, problem, advice }] };
}
