import { z } from "zod";

/** Points at which a person's own commands are run, by the names that Claude Code and codex have for them. */
export const hookEvents = [
  "SessionStart",
  "SessionEnd",
  "UserPromptSubmit",
  "PreToolUse",
  "PermissionRequest",
  "PostToolUse",
  "PreCompact",
  "PostCompact",
  "SubagentStart",
  "SubagentStop",
  "Stop",
  "Notification",
] as const;

/** One of these points. */
export type HookEvent = (typeof hookEvents)[number];

const COMMAND = "a command, as for sh -c";
const SECONDS = "a number of seconds above 0 and at most 3600";
const MATCHER = 'names of tools, as in "Edit|Write"; a regular expression, or "*" for all';
const ENTRIES = 'a list, as in [{"matcher":"Bash","hooks":[{"type":"command","command":"./check.sh"}]}]';

const hook = z.looseObject(
  {
    type: z.literal("command", '"command": other kinds of hooks are not run'),
    command: z.string(COMMAND).min(1, COMMAND),
    timeout: z.number(SECONDS).positive(SECONDS).max(3_600, SECONDS).optional(),
  },
  "an object with type and command",
);

const group = z.looseObject(
  {
    matcher: z
      .string(MATCHER)
      .refine((text) => matcherOf(text) !== undefined, MATCHER)
      .optional(),
    hooks: z.array(hook, "a list of hooks"),
  },
  'an object with hooks, and a matcher if they are not for all, as in {"matcher":"Bash","hooks":[]}',
);

/** The form of the setting `hooks`. */
export const hookEntries = z.partialRecord(
  z.enum(hookEvents, `one of ${hookEvents.join(", ")}`),
  z.array(group, ENTRIES),
  "an object with points and their hooks",
);

/** Hooks as they stand in the settings: by their points, in groups that say for which tools they are. */
export type HookEntries = z.infer<typeof hookEntries>;

/** A hook, and whether it is for something of these names. */
export interface Hook {
  readonly command: string;
  /** Milliseconds. */
  readonly timeout: number;
  isFor(names: readonly string[]): boolean;
}

/** Milliseconds that a hook may take when nothing else is set. */
const TIMEOUT = 60_000;

/** The hooks of a point, in order. */
export function hooksAt(entries: HookEntries, event: HookEvent): Hook[] {
  return (entries[event] ?? []).flatMap(({ matcher = "", hooks }) => {
    const pattern = matcherOf(matcher);
    return hooks.map(({ command, timeout }) => ({
      command,
      timeout: timeout === undefined ? TIMEOUT : timeout * 1_000,
      isFor: (names: readonly string[]) => names.length === 0 || names.some((name) => pattern?.test(name)),
    }));
  });
}

/** A matcher names its tools whole, as in `Edit|Write`; nothing when it is no regular expression. */
function matcherOf(text: string): RegExp | undefined {
  if (text === "" || text === "*") return /^/;
  try {
    return new RegExp(`^(?:${text})$`);
  } catch {
    return undefined;
  }
}
