/** The events for users' own commands, by their names in Claude Code and codex. */
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

/** One of these events. */
export type HookEvent = (typeof hookEvents)[number];

/** Events of Claude Code and codex that Banyan does not have: their hooks do not run, and a notice reports this. */
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
