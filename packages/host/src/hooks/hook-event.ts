/** The events at which users' own commands run, by their names in Claude Code and codex. */
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

/** An event at which users' own commands run. */
export type HookEvent = (typeof hookEvents)[number];

/** Events of Claude Code and codex whose hooks do not run in Banyan. A notice reports this. */
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
