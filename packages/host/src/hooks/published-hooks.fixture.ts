import type { Json } from "@banyan/core";

const GUIDE = "https://code.claude.com/docs/en/hooks-guide";
const REFERENCE = "https://code.claude.com/docs/en/hooks";

/** A tool call that the test makes with the hooks of an example. */
export interface PlayedCall {
  readonly tool: string;
  readonly input: Json;
}

/**
 * A hook from the documentation of Claude Code: with the same event, matcher, input and form of answer. The commands are our own.
 * `formatter` and `notify` stand in for programs of a user.
 */
export interface PublishedHook {
  /** The page and the heading of the example. */
  readonly source: string;
  readonly hooks: Readonly<Record<string, Json>>;
  /** Files of the project by path. Scripts are executable. */
  readonly files?: Readonly<Record<string, string>>;
  readonly calls?: readonly PlayedCall[];
  /** Number of answers without a call. Default 1. */
  readonly answers?: number;
  readonly prompt?: string;
  /** The expected outcome, by the page's own description. */
  readonly right: {
    /** The outcome of each call. */
    readonly statuses?: readonly ("completed" | "denied")[];
    /** Texts that the model must get. */
    readonly told?: readonly string[];
    /** The content of files at the end; `null`: no such file. */
    readonly files?: Readonly<Record<string, string | null>>;
    /** Number of model calls. */
    readonly asked?: number;
    /** Notices at the start. */
    readonly notices?: readonly string[];
  };
}

const command = (text: string, more: object = {}) => ({ type: "command", command: text, ...more });
const one = (event: string, text: string, matcher?: string, more: object = {}) => ({
  [event]: [{ ...(matcher !== undefined && { matcher }), hooks: [command(text, more)] }],
});
const answer = (hookEventName: string, fields: object) =>
  `echo '${JSON.stringify({ hookSpecificOutput: { hookEventName, ...fields } })}'`;
const write = (path: string, content = "a") => ({ tool: "write", input: { path, content } });
const shell = (text: string) => ({ tool: "shell", input: { command: text } });

export const publishedHooks: Readonly<Record<string, PublishedHook>> = {
  "a notification when a turn ends badly": {
    source: `${GUIDE}#get-notified-when-claude-needs-input`,
    hooks: one("Notification", "notify 'Banyan needs you'", ""),
    files: { "bin/notify": '#!/bin/sh\necho "$1" >> notices.txt\n' },
    answers: 0,
    right: { files: { "notices.txt": "Banyan needs you\n" } },
  },
  "formatting after edits": {
    source: `${GUIDE}#auto-format-code-after-edits`,
    hooks: one("PostToolUse", "jq -r '.tool_input.file_path' | xargs formatter", "Edit|Write"),
    files: { "bin/formatter": '#!/bin/sh\nprintf "%s formatted" "$(cat "$1")" > "$1"\n' },
    calls: [write("a.js"), shell("cat a.js")],
    right: { files: { "a.js": "a formatted" }, told: ["a formatted"] },
  },
  "the same with a comma in the matcher": {
    source: `${GUIDE}#filter-hooks-with-matchers`,
    hooks: one("PostToolUse", "touch formatted.txt", "Edit, Write"),
    calls: [write("a.js")],
    right: { files: { "formatted.txt": "" } },
  },
  "protected files": {
    source: `${GUIDE}#block-edits-to-protected-files`,
    hooks: one("PreToolUse", '"$CLAUDE_PROJECT_DIR"/.claude/hooks/protect.sh', "Edit|Write"),
    files: {
      ".claude/hooks/protect.sh": `#!/bin/bash
path=$(jq -r '.tool_input.file_path // empty')
for part in ".env" "package-lock.json" ".git/"; do
  case "$path" in *"$part"*) echo "Blocked: $path holds $part" >&2; exit 2 ;; esac
done
`,
    },
    calls: [write(".env"), write("a.txt")],
    right: { statuses: ["denied", "completed"], files: { ".env": null, "a.txt": "a" }, told: ["/.env holds .env"] },
  },
  "context behind a summary": {
    source: `${GUIDE}#re-inject-context-after-compaction`,
    hooks: one("SessionStart", "echo 'Reminder: use Bun.'", "compact"),
    right: { notices: [] },
  },
  "an audit of changed settings": {
    source: `${GUIDE}#audit-configuration-changes`,
    hooks: one("ConfigChange", "jq -c '{source, file: .file_path}' >> audit.log", ""),
    right: { notices: ["hooks.ConfigChange: Banyan has no such point, so its hooks do not run."] },
  },
  "variables of a folder": {
    source: `${GUIDE}#reload-environment-when-directory-or-files-change`,
    hooks: { ...one("CwdChanged", "true"), ...one("FileChanged", "true", ".envrc|.env") },
    right: {
      notices: [
        "hooks.CwdChanged: Banyan has no such point, so its hooks do not run.",
        "hooks.FileChanged: Banyan has no such point, so its hooks do not run.",
      ],
    },
  },
  "a yes to plans alone": {
    source: `${GUIDE}#auto-approve-specific-permission-prompts`,
    hooks: one("PermissionRequest", answer("PermissionRequest", { decision: { behavior: "allow" } }), "ExitPlanMode"),
    calls: [shell("touch made.txt")],
    right: {
      statuses: ["denied"],
      files: { "made.txt": null },
      notices: [
        "hooks.PermissionRequest: The matcher 'ExitPlanMode' names only tools of other programs, and matches nothing here.",
      ],
    },
  },
  "a log beside a guard": {
    source: `${GUIDE}#combine-results-from-multiple-hooks`,
    hooks: {
      PreToolUse: [
        {
          matcher: "Bash",
          hooks: [
            command("jq -r .tool_input.command >> bash.log"),
            command("if grep -q 'rm -rf'; then echo 'no rm -rf' >&2; exit 2; fi"),
          ],
        },
      ],
    },
    calls: [shell("rm -rf build")],
    right: { statuses: ["denied"], files: { "bash.log": "rm -rf build\n" }, told: ["no rm -rf"] },
  },
  "exit code 2": {
    source: `${GUIDE}#hook-output`,
    hooks: one("PreToolUse", "if grep -q 'drop table'; then echo 'Blocked: no dropping' >&2; exit 2; fi"),
    calls: [shell("echo drop table users")],
    right: { statuses: ["denied"], told: ["Blocked: no dropping"] },
  },
  "a denial as JSON": {
    source: `${GUIDE}#structured-json-output`,
    hooks: one(
      "PreToolUse",
      answer("PreToolUse", { permissionDecision: "deny", permissionDecisionReason: "Use rg." }),
      "Bash",
    ),
    calls: [shell("grep -r a .")],
    right: { statuses: ["denied"], told: ["Use rg."] },
  },
  "words for each prompt": {
    source: `${GUIDE}#structured-json-output`,
    hooks: one("UserPromptSubmit", answer("UserPromptSubmit", { additionalContext: "Freeze until Friday." })),
    right: { told: ["Freeze until Friday."] },
  },
  "a log of commands": {
    source: `${GUIDE}#filter-hooks-with-matchers`,
    hooks: one("PostToolUse", "jq -r '.tool_input.command' >> commands.txt", "Bash"),
    calls: [shell("echo a"), write("a.txt")],
    right: { files: { "commands.txt": "echo a\n" } },
  },
  "tools of a server": {
    source: `${GUIDE}#filter-hooks-with-matchers`,
    hooks: one("PreToolUse", 'echo "called: $(jq -r .tool_name)" >&2; touch called.txt', "mcp__github__.*"),
    calls: [shell("echo a")],
    right: { statuses: ["completed"], files: { "called.txt": null } },
  },
  "cleaning up after /clear": {
    source: `${GUIDE}#filter-hooks-with-matchers`,
    hooks: one("SessionEnd", "rm -f scratch.txt", "clear"),
    files: { "scratch.txt": "kept" },
    right: {
      files: { "scratch.txt": "kept" },
      notices: ["hooks.SessionEnd: The matcher 'clear' names only tools of other programs, and matches nothing here."],
    },
  },
  "a Stop hook that sends on once": {
    source: `${GUIDE}#stop-hook-hits-the-block-cap`,
    hooks: one(
      "Stop",
      `[ "$(jq -r .stop_hook_active)" = true ] && exit 0; echo '{"decision":"block","reason":"Run the tests."}'`,
    ),
    answers: 2,
    right: { asked: 2, told: ["Run the tests."] },
  },
  "a Stop hook that ends everything": {
    source: `${REFERENCE}#json-output`,
    hooks: one("Stop", `echo '{"continue":false,"stopReason":"Enough.","decision":"block","reason":"More."}'`),
    right: { asked: 1 },
  },
  "a yes with other arguments and context": {
    source: `${REFERENCE}#pretooluse-decision-control`,
    hooks: one(
      "PreToolUse",
      answer("PreToolUse", {
        permissionDecision: "allow",
        permissionDecisionReason: "checked",
        updatedInput: { command: "echo changed" },
        additionalContext: "This is production.",
      }),
      "Bash",
    ),
    calls: [shell("touch made.txt")],
    right: { statuses: ["completed"], files: { "made.txt": null }, told: ["changed", "This is production."] },
  },
  "a yes to a question with other arguments": {
    source: `${REFERENCE}#permissionrequest-decision-control`,
    hooks: one(
      "PermissionRequest",
      answer("PermissionRequest", { decision: { behavior: "deny", message: "Ask the owner." } }),
      "Bash",
    ),
    calls: [shell("touch made.txt")],
    right: { statuses: ["denied"], told: ["Ask the owner."] },
  },
  "words about a result": {
    source: `${REFERENCE}#posttooluse-decision-control`,
    hooks: one(
      "PostToolUse",
      `echo '${JSON.stringify({ decision: "block", reason: "It has lint errors.", hookSpecificOutput: { hookEventName: "PostToolUse", additionalContext: "Beside that." } })}'`,
      "Write",
    ),
    calls: [write("a.txt")],
    right: { statuses: ["completed"], told: ["It has lint errors."] },
  },
  "a validator of commands": {
    source: "https://github.com/anthropics/claude-code/blob/main/examples/hooks/bash_command_validator_example.py",
    hooks: one("PreToolUse", "node .claude/validate.cjs", "Bash"),
    files: {
      ".claude/validate.cjs": `
const { tool_name, tool_input } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
if (tool_name !== "Bash" || !/^grep\\b(?!.*\\|)/.test(tool_input.command)) process.exit(0);
console.error("• rg is faster than grep");
process.exit(2);
`,
    },
    calls: [shell("grep a b.txt"), shell("echo a")],
    right: { statuses: ["denied", "completed"], told: ["• rg is faster than grep"] },
  },
};

/**
 * Commands for which a hook with `if` runs, by the page's table. One row is missing: a hook for `Bash(git push *)` runs for `echo
 * $(date)`. Here it does not, because that command is known to push nothing.
 */
export const publishedConditions = {
  source: `${GUIDE}#filter-by-tool-name-and-arguments-with-the-if-field`,
  rows: [
    ["Bash(git *)", "git push", true],
    ["Bash(git *)", "npm test && git push", true],
    ["Bash(git *)", "echo $(git log)", true],
    ["Bash(git *)", "echo $(date)", false],
    ["Bash(git *)", "echo 'not closed", true],
  ] as const,
};
