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

/** Points of Claude Code and codex that Banyan does not have: hooks there do not run, and a notice says so. */
export const foreignEvents = [
  "Setup",
  "PostToolUseFailure",
  "PostToolBatch",
  "PermissionDenied",
  "StopFailure",
  "TeammateIdle",
  "TaskCreated",
  "TaskCompleted",
  "InstructionsLoaded",
  "ConfigChange",
  "CwdChanged",
  "DirectoryAdded",
  "FileChanged",
  "WorktreeCreate",
  "WorktreeRemove",
  "Elicitation",
  "ElicitationResult",
  "UserPromptExpansion",
  "MessageDisplay",
] as const;
