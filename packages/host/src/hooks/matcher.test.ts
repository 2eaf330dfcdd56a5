import { describe, expect, test } from "vitest";
import { misfitsOf } from "../settings/fault.ts";
import { hookEntries, hookNotices } from "./entries.ts";
import { readHookReply } from "./hook-reply.ts";
import { readMatcher } from "./matcher.ts";

test.each([
  ["PreToolUse", "bash", "'bash' matches nothing; you may mean 'Bash'"],
  ["PreToolUse", "^bash$", "'^bash$' matches nothing; you may mean 'Bash'"],
  [
    "PreToolUse",
    "Bash(git commit:*)",
    `'Bash(git commit:*)' is a call, and a matcher names tools; write the matcher 'Bash' and "if": "Bash(git commit:*)" next to the command`,
  ],
  ["PreToolUse", "(", "'(' is neither a regular expression nor a list of names such as 'Edit|Write'"],
  ["SessionStart", "start", "'start' matches nothing; you may mean 'startup'"],
  ["Notification", "mail", "'mail' matches nothing; it can be permission_prompt, elicitation_dialog, idle_prompt"],
] as const)("S34, K5: at %s the matcher %s is refused, with what to write", (event, text, problem) => {
  expect(readMatcher(event, text)).toBe(problem);
});

test("S34: a matcher with several names applies to the possible names, and notices name the others", () => {
  const at = (matcher: string) => hookNotices(hookEntries.parse({ PreToolUse: [{ matcher, hooks: [] }] }));
  expect(at("Edit|MultiEdit|Write")).toEqual([]);
  expect(at("Edit|NotebookEdit")).toEqual([
    "hooks.PreToolUse: In the matcher 'Edit|NotebookEdit', 'NotebookEdit' names only tools of other programs, and matches nothing here.",
  ]);
  expect(at("Write|Edit|Bash(git commit:*)")).toEqual([expect.stringContaining("'Bash(git commit:*)' is a call")]);
  expect(at("Bash|Bsh")).toEqual([
    expect.stringContaining("In the matcher 'Bash|Bsh', 'Bsh' matches nothing; you may mean 'Bash'"),
  ]);
  expect(hookNotices(hookEntries.parse({ WorktreeCreate: [] }))).toEqual([
    "hooks.WorktreeCreate: Banyan has no such point, so its hooks do not run.",
  ]);
});

test.each([
  [{ once: true }, "no 'once': hooks in settings run each time, so remove the key"],
  [{ args: ["x"] }, "no 'args': write the arguments into the command"],
  [{ shell: "powershell" }, "no other shell than sh"],
  [{ asyncRewake: true }, "no 'asyncRewake': use a hook of Stop that waits"],
  [{ if: "bash(rm *)" }, "a rule: the rule 'bash(rm *)' names no tool; you may mean 'Bash'"],
  [{ async: "yes" }, "true or false"],
])("S34: a hook's key with a wrong meaning is refused: %j", (key, message) => {
  const hooks = [{ type: "command", command: "true", ...key }];
  const { error } = hookEntries.safeParse({ PreToolUse: [{ hooks }] });
  expect(error?.issues.map((issue) => issue.message)).toEqual([message]);
});

test.each([
  [{ matchers: "Bash", hooks: [] }, ["matchers"], "the key 'matcher'"],
  [{ if: "Bash(rm *)", hooks: [] }, ["if"], "'if' next to the hook's command"],
  [{ timeout: 5, hooks: [] }, ["timeout"], "'timeout' next to the hook's command"],
  [{ hooks: [{ timout: 5 }] }, ["hooks", 0, "timout"], "the key 'timeout'"],
  [{ hooks: [{ matcher: "Bash" }] }, ["hooks", 0, "matcher"], "'matcher' next to the list of hooks"],
])("S34: a misspelt or misplaced key of a hook is refused: %j", (written, path, message) => {
  const { hooks, ...group } = { ...written };
  const whole = { ...group, hooks: hooks.map((each) => ({ type: "command", command: "true", ...each })) };
  const { error } = hookEntries.safeParse({ PreToolUse: [whole] });
  expect(error?.issues.map((issue) => [issue.path.slice(2), issue.message])).toEqual([[path, message]]);
});

test("S34: an unknown point is refused, and the error names the nearest point", () => {
  expect(misfitsOf({ PreToolUze: [] }, hookEntries)).toEqual([
    expect.objectContaining({ problem: "'PreToolUze' is not known", advice: expect.stringContaining("'PreToolUse'") }),
  ]);
});

test("S34: keys of other programs that change nothing are taken, and a matcher at a point without names is a notice", () => {
  const hook = { type: "command", command: "true", statusMessage: "Checking", description: "d", id: "x" };
  const entries = hookEntries.parse({ PreToolUse: [{ hooks: [hook] }], Stop: [{ matcher: "Bash", hooks: [hook] }] });
  expect(hookNotices(entries)).toEqual([
    "hooks.Stop: The matcher 'Bash' has no effect: hooks of the event Stop always run.",
  ]);
});

test("S34: `if` goes with the points that are about a call", () => {
  const hooks = [{ type: "command", command: "true", if: "Bash(rm *)" }];
  expect(hookEntries.safeParse({ Stop: [{ hooks }] }).error?.issues[0]?.message).toBe(
    "no 'if' at Stop: it goes with PreToolUse, PermissionRequest, PostToolUse",
  );
});

describe("S34: answers of a hook", () => {
  const said = (stdout: string, code = 0) => readHookReply("PreToolUse", { code, stdout, stderr: "" }, "./hook");

  test.each([
    '{"permissionDecision":"deny"}',
    '{"hookSpecificOutput":{"permissionDecision":"maybe"}}',
    '{"hookSpecificOutput":{"hookEventName":"PostToolUse","permissionDecision":"allow"}}',
    '{"hookSpecificOutput":{"behavior":"deny"}}',
    '{"decision":{"behavior":"deny"}}',
    '{"decision":"maybe"}',
    '{"continue":"false"}',
    '{"result":{"continue":false}}',
    '[{"decision":"block"}]',
    'checking ...\n{"decision":"block"}',
    '{"decision":"block"',
  ])("an unknown decision blocks the call, with a notice: %s", (stdout) => {
    const { decision, reason, problem } = said(stdout);
    expect({ decision, reason }).toEqual({
      decision: "deny",
      reason: expect.stringContaining("is not understood: it answered"),
    });
    expect(problem).toMatch(/^answered /);
  });

  test("a decision of a failed hook blocks too", () => {
    expect(said('{"decision":"block"}', 1)).toMatchObject({ decision: "deny", problem: "failed with exit code 1" });
  });

  test.each(["", "checked 3 files", "[1, 2]", "{}", '{"systemMessage":"hello"}', '{"continue":true}', "{nonsense"])(
    "output without a decision stops nothing: %s",
    (stdout) => {
      expect(said(stdout).decision).toBeUndefined();
    },
  );

  test("arguments and a hook's messages contain no decision", () => {
    const answer = {
      hookSpecificOutput: { permissionDecision: "allow", updatedInput: { decision: "x", continue: false } },
    };
    expect(said(JSON.stringify(answer))).toMatchObject({
      decision: "allow",
      input: { decision: "x", continue: false },
    });
  });

  test("at a point that can deny, a notice reports an unknown decision", () => {
    expect(readHookReply("Stop", { code: 0, stdout: '{"decision":"maybe"}', stderr: "" }, "./hook")).toEqual({
      problem: 'answered with the decision "maybe" at decision, which hooks cannot make',
    });
  });
});
