export { type ManagedMemory, type MemoryEntry, MemoryError } from "@banyan/memory";
export {
  type Aliases,
  builtInAliases,
  type EnvironmentVariables,
  efforts,
  type KnownModel,
  loadWire,
  type ModelChoice,
  ModelChoiceError,
  type ProviderStatus,
  withoutEffort,
} from "@banyan/models";
export { type ChangedFile, changedFiles, WorkspaceError } from "@banyan/tools/workspace";
export {
  type AttachmentSummary,
  type AttachOptions,
  attachNamedFiles,
  type MessageWithAttachments,
} from "./attachments/attach.ts";
export type { FreshServers, NoNewProblems } from "./checks/first-problems.ts";
export {
  addRestorationMessage,
  type CallChanges,
  type ChangesContext,
  type RestorationResult,
  reliesOnForeignLog,
  revertFiles,
  undoableCalls,
  undoCall,
} from "./conversations/changes.ts";
export { ConversationDirectory, type StoredConversation } from "./conversations/conversation-directory.ts";
export {
  type AnswerStyle,
  ConversationError,
  findConversation,
  listForUsers,
  PROGRAM,
  searchForUsers,
  wasUnattended,
} from "./conversations/conversations.ts";
export { changesSinceCommit, type GitFolder } from "./conversations/git-changes.ts";
export {
  type ComparedFile,
  type ComparedPlace,
  compareFiles,
  type FileChanger,
  type RewindChoice,
  type RewindContext,
  type RewindPlace,
  type RewindTarget,
  rewindFiles,
  type WorkspaceComparison,
} from "./conversations/rewind.ts";
export { type AgentDefinition, unknownInAgents } from "./definitions/agents.ts";
export { type AllDefinitions, readDefinitions } from "./definitions/all-definitions.ts";
export type { Skill } from "./definitions/skills.ts";
export { contextKnown, type ModelsContext, modelsOfProvider, providersHere } from "./drivers/drivers.ts";
export type { Equipment } from "./equipment/equipment.ts";
export { memoryFile, userMemory } from "./equipment/memory.ts";
export { goalOfUser, goalToRetry, testCommandIn, unfinishedGoal, writtenGoal } from "./goals/host-goal.ts";
export { type WorkspaceGoalOptions, workspaceGoal } from "./goals/workspace-goal.ts";
export { type AttentionReason, CallsFor } from "./hooks/calls-for.ts";
export { Hooks } from "./hooks/hooks.ts";
export { statusLineSaid } from "./hooks/status-line.ts";
export type { Host } from "./host/host.ts";
export { type HostFlags, type HostOptions, openHost, telemetryNotices } from "./host/open-host.ts";
export { type ContextPart, contextParts } from "./instructions/context-parts.ts";
export type { InstructionPart, Instructions } from "./instructions/instructions.ts";
export { gitBranch } from "./instructions/surroundings.ts";
export {
  expandPrompt,
  expandSlashPrompt,
  listPrompts,
  PromptError,
  type PromptInvocation,
  type PromptText,
} from "./messages/prompts.ts";
export { type CommandRun, runUserCommand, type UserCommandContext, unfinishedMode } from "./messages/user-command.ts";
export { type WrittenMessage, writtenMessage } from "./messages/written-message.ts";
export type { PlanApproval } from "./permissions/approval.ts";
export { Approval, ApprovalError, NEEDS_SANDBOX, type UnattendedApproval } from "./permissions/approval.ts";
export type { Rule } from "./permissions/match.ts";
export { narrowedRules, type PermissionOptions, permissions, suggestPattern } from "./permissions/permissions.ts";
export { pathScope } from "./permissions/place.ts";
export { readingRules } from "./permissions/reading-rule.ts";
export {
  type ApprovalMode,
  approvalModes,
  formatRule,
  joinRules,
  noRules,
  type PermissionEntries,
  parseRule,
  RuleError,
  type Rules,
  rulesFrom,
} from "./permissions/rule.ts";
export { absentInLists } from "./permissions/tool-list.ts";
export { type Directories, directories } from "./places/directories.ts";
export { type ProjectPaths, projectOf } from "./places/project.ts";
export { redactedLoop } from "./redaction/redacted-loop.ts";
export { withRedactedTitle } from "./redaction/redacted-titles.ts";
export { redactedTools } from "./redaction/redacted-tools.ts";
export { RedactingStream } from "./redaction/redacting-stream.ts";
export { type Redact, redactor } from "./redaction/redactor.ts";
export { placeholderProblem } from "./redaction/span.ts";
export * from "./settings/index.ts";
export { type HookSource, type ListedHook, listedHooks } from "./settings/listed-hooks.ts";
export { type ProjectItem, untrustedContent } from "./trust/project-content.ts";
export { type Trust, TrustRecord } from "./trust/trust-record.ts";
export { type BranchHandover, branchHandover, bring, bringingAgent } from "./worktrees/bring.ts";
export { type ComparedBranch, compareBranches, forkAbove } from "./worktrees/compare.ts";
export { WorktreeError, type WorktreeErrorCode } from "./worktrees/error.ts";
export { branchNameForModel, type FannedBranch, type FanOptions, fan, fanStarts } from "./worktrees/fan.ts";
export type { WorktreeFile } from "./worktrees/repository.ts";
export { type BranchStart, heldInWorktree, type ListedWorktree, Worktrees } from "./worktrees/worktrees.ts";
