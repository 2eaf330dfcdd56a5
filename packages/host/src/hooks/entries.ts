import { nearest } from "@banyan/core/shown";
import { z } from "zod";
import type { Rule } from "../permissions/match.ts";
import { checkedRule, RuleError } from "../permissions/rule.ts";
import { foreignEvents, type HookEvent, hookEvents } from "./hook-event.ts";
import { type Matcher, ofTools, readMatcher } from "./matcher.ts";

const COMMAND = "a command, as for sh -c";
const SECONDS = "a number of seconds above 0 and at most 3600";
const ENTRIES = 'a list, as in [{"matcher":"Bash","hooks":[{"type":"command","command":"./check.sh"}]}]';

// Ignores unknown keys without an effect on hooks, for hooks of other programs. Refuses misspelt keys and other keys of
// Claude Code: the hook would run more often or longer than intended.
const hook = z.looseObject(
  {
    type: z.literal("command", '"command": other kinds of hooks are not run'),
    command: z.string(COMMAND).min(1, COMMAND),
    timeout: z.number(SECONDS).positive(SECONDS).max(3_600, SECONDS).optional(),
    if: z
      .string("a rule, as in Bash(git commit *)")
      .superRefine((text, context) => {
        const problem = problemOfRule(text);
        if (problem !== undefined) context.addIssue({ code: "custom", message: problem });
      })
      .describe("The hook runs only for calls that this rule covers.")
      .optional(),
    async: z
      .boolean("true or false")
      .describe("The agent does not wait for the hook, and ignores its answer.")
      .optional(),
    once: z.literal(false, "no 'once': hooks in settings run each time, so remove the key").optional(),
    args: z.never("no 'args': write the arguments into the command").optional(),
    shell: z.literal(["bash", "sh"], "no other shell than sh").optional(),
    asyncRewake: z.literal(false, "no 'asyncRewake': use a hook of Stop that waits").optional(),
  },
  "an object with type and command",
);

const group = z
  .looseObject(
    {
      matcher: z.string('names of tools, as in "Edit|Write"; a regular expression, or "*" for all').optional(),
      hooks: z.array(hook, "a list of hooks"),
    },
    'an object with hooks, and a matcher if they are not for all, as in {"matcher":"Bash","hooks":[]}',
  )
  .superRefine((value, context) => {
    const issue = (path: (string | number)[], message: string) => context.addIssue({ code: "custom", path, message });
    for (const key of misspelt(value, GROUP))
      issue([key], HOOK.includes(key) ? `'${key}' next to the hook's command` : `the key '${nearestKey(key)}'`);
    for (const [at, each] of value.hooks.entries())
      for (const key of misspelt(each, HOOK))
        issue(
          ["hooks", at, key],
          GROUP.includes(key) ? `'${key}' next to the list of hooks` : `the key '${nearestKey(key)}'`,
        );
  });

const HOOK = Object.keys(hook.shape);
const GROUP = ["matcher", "hooks"];

function misspelt(value: object, known: readonly string[]): readonly string[] {
  return Object.keys(value).filter((key) => !known.includes(key) && nearestKey(key) !== undefined);
}

/** A key of two letters resembles too many. */
function nearestKey(key: string): string | undefined {
  return key.length > 2 || HOOK.includes(key) ? nearest(key, [...HOOK, ...GROUP])[0] : undefined;
}

/** The schema of the setting `hooks`. */
export const hookEntries = z
  .partialRecord(
    z.enum([...hookEvents, ...foreignEvents], `one of ${hookEvents.join(", ")}`),
    z.array(group, ENTRIES),
    "an object with points and their hooks",
  )
  .superRefine((entries, context) => {
    for (const event of hookEvents)
      for (const [index, { matcher = "", hooks }] of (entries[event] ?? []).entries()) {
        const issue = (path: (string | number)[], message: string) =>
          context.addIssue({ code: "custom", path: [event, index, ...path], message });
        const read = readMatcher(event, matcher);
        if (typeof read === "string") issue(["matcher"], `a matcher that can match something: ${read}`);
        for (const [at, { if: rule }] of hooks.entries())
          if (rule !== undefined && !ofTools.has(event))
            issue(["hooks", at, "if"], `no 'if' at ${event}: it goes with ${[...ofTools].join(", ")}`);
      }
  });

/** Hooks in the settings: by event, in groups with a matcher. */
export type HookEntries = z.infer<typeof hookEntries>;

/** A user's command that runs at an event, with its matcher. */
export interface Hook {
  readonly command: string;
  /** Milliseconds. */
  readonly timeout: number;
  /** The hook runs only for calls that this rule covers. */
  readonly rule?: Rule;
  /** True if the hook runs in the background. */
  readonly async: boolean;
  isFor(names: readonly string[]): boolean;
}

/** Milliseconds. */
const TIMEOUT = 60_000;

/** Returns the hooks of an event, in order. */
export function hooksAt(entries: HookEntries, event: HookEvent): Hook[] {
  return (entries[event] ?? []).flatMap(({ matcher = "", hooks }) => {
    const { isFor } = matcherAt(event, matcher);
    return hooks.map(({ command, timeout, async = false, if: rule }) => ({
      command,
      timeout: timeout === undefined ? TIMEOUT : timeout * 1_000,
      async,
      ...(rule !== undefined && { rule: checkedRule(rule, "deny") }),
      isFor,
    }));
  });
}

/** Returns a sentence for each hook that does not run here, and for each matcher that matches nothing. */
export function hookNotices(entries: HookEntries = {}): readonly string[] {
  const absent = foreignEvents.filter((event) => entries[event]);
  const ofPoints = absent.map((event) => `hooks.${event}: Banyan has no such point, so its hooks do not run.`);
  const ofMatchers = hookEvents.flatMap((event) =>
    (entries[event] ?? []).flatMap(({ matcher = "" }) =>
      matcherAt(event, matcher).notices.map((notice) => `hooks.${event}: ${notice}`),
    ),
  );
  return [...ofPoints, ...ofMatchers];
}

/** An invalid matcher matches everything. */
function matcherAt(event: HookEvent, text: string): Matcher {
  const read = readMatcher(event, text);
  return typeof read === "string" ? { isFor: () => true, notices: [] } : read;
}

function problemOfRule(text: string): string | undefined {
  try {
    checkedRule(text, "deny");
    return undefined;
  } catch (error) {
    if (!(error instanceof RuleError)) throw error;
    return `a rule: the rule '${text}' ${error.problem}`;
  }
}
