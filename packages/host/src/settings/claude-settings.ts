import { type HookEntries, hookEntries } from "../hooks/entries.ts";
import { hookEvents } from "../hooks/hook-event.ts";
import { type StatusLineEntry, statusLineEntry } from "../hooks/status-line.ts";
import { permissionEntries } from "../permissions/rule.ts";
import type { SettingsFault } from "./fault.ts";
import { readJsonFile } from "./json-file.ts";
import { isPlainObject } from "./key.ts";

/** The usable settings from a project's Claude Code files, and the faults of unusable settings. */
export interface ClaudeSettings {
  readonly hooks: HookEntries;
  /** The deny and ask rules. Allow rules are not read, because the user granted them to another program. */
  readonly rules: Readonly<Record<(typeof LISTS)[number], readonly string[]>>;
  readonly statusLine?: StatusLineEntry | undefined;
  readonly faults: readonly SettingsFault[];
}

const LISTS = ["deny", "ask"] as const;
const NOTHING: ClaudeSettings = { hooks: {}, rules: { deny: [], ask: [] }, faults: [] };

/**
 * Reads hooks, deny and ask rules, and the status line from a project's Claude Code settings (S34):
 * `.claude/settings.json` and the user's local file. Omits hooks that only Claude Code has, with a notice. Never
 * throws.
 */
export function readClaudeSettings(files: readonly string[]): ClaudeSettings {
  return files.map(readClaudeFile).reduce(mergeClaudeSettings, NOTHING);
}

/** Joins the hooks of two settings, event by event. */
export function joinedHooks(one: HookEntries = {}, other: HookEntries = {}): HookEntries {
  const points = hookEvents.filter((event) => one[event] || other[event]);
  return Object.fromEntries(points.map((event) => [event, [...(one[event] ?? []), ...(other[event] ?? [])]]));
}

function mergeClaudeSettings(one: ClaudeSettings, other: ClaudeSettings): ClaudeSettings {
  return {
    hooks: joinedHooks(one.hooks, other.hooks),
    rules: { deny: [...one.rules.deny, ...other.rules.deny], ask: [...one.rules.ask, ...other.rules.ask] },
    statusLine: other.statusLine ?? one.statusLine,
    faults: [...one.faults, ...other.faults],
  };
}

function readClaudeFile(source: string): ClaudeSettings {
  const json = readJsonFile(source);
  if (json.state === "faulty") return { ...NOTHING, faults: [json.fault] };
  if (json.state === "absent" || !isPlainObject(json.value)) return NOTHING;
  const { hooks, statusLine, disableAllHooks, permissions } = json.value;
  const rules = readRules(source, permissions);
  if (disableAllHooks === true) return rules;
  return Object.entries(isPlainObject(hooks) ? hooks : {})
    .flatMap(([event, groups]) => commandsOf(event, groups).map((group) => readGroup(source, event, group)))
    .reduce(mergeClaudeSettings, mergeClaudeSettings(rules, readStatusLine(source, statusLine)));
}

/** Separately, so that a faulty rule does not affect others. */
function readRules(source: string, permissions: unknown): ClaudeSettings {
  const lists = isPlainObject(permissions) ? permissions : {};
  return LISTS.flatMap((list) => {
    const texts = lists[list];
    return (Array.isArray(texts) ? texts : []).map((text: unknown, index): ClaudeSettings => {
      const { error } = permissionEntries.safeParse({ [list]: [text] });
      if (!error && typeof text === "string") return { ...NOTHING, rules: { ...NOTHING.rules, [list]: [text] } };
      const advice = `expected ${error?.issues[0]?.message}`;
      const key = `permissions.${list}[${index}]`;
      return { ...NOTHING, faults: [{ source, key, problem: "this rule has no effect here", advice }] };
    });
  }).reduce(mergeClaudeSettings, NOTHING);
}

function readStatusLine(source: string, value: unknown): ClaudeSettings {
  if (value === undefined) return NOTHING;
  const { data, error } = statusLineEntry.safeParse(value);
  if (data) return { ...NOTHING, statusLine: data };
  const advice = `expected ${error.issues[0]?.message}`;
  return { ...NOTHING, faults: [{ source, key: "statusLine", problem: "it does not run here", advice }] };
}

/** One group per hook, so that a hook that does not run here hides no other. */
function commandsOf(event: string, groups: unknown): unknown[] {
  if (!Array.isArray(groups)) return [groups];
  if (!hookEvents.some((known) => known === event)) return [undefined];
  return groups.flatMap((group: unknown) =>
    isPlainObject(group) && Array.isArray(group.hooks)
      ? group.hooks.map((hook) => ({ ...group, hooks: [hook] }))
      : [group],
  );
}

function readGroup(source: string, event: string, group: unknown): ClaudeSettings {
  const { data, error } = hookEntries.safeParse({ [event]: [group] });
  if (data) return { ...NOTHING, hooks: data };
  const isKnown = hookEvents.some((known) => known === event);
  const problem = isKnown ? "a hook there does not run here" : "there is no such point here, so its hooks do not run";
  const [issue] = error.issues;
  const advice = isKnown ? `expected ${issue?.message}` : `expected ${hookEvents.join(", ")}`;
  return { ...NOTHING, faults: [{ source, key: `hooks.${event}`, problem, advice }] };
}
