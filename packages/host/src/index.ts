export { type ManagedMemory, type MemoryEntry, MemoryError } from "@banyan/memory";
export {
  type Aliases,
  builtInAliases,
  type Environment,
  type KnownModel,
  listModels,
  listProviders,
  type ModelChoice,
  ModelChoiceError,
  type ProviderStatus,
} from "@banyan/models";
export { type ChangedFile, changesOf, WorkspaceError } from "@banyan/tools/workspace";
export * from "./attachments/index.ts";
export {
  type CallChanges,
  type ChangesPlace,
  revertBranch,
  revertFiles,
  type TakenBack,
  tellTakenBack,
  undoableCalls,
  undoCall,
  wasElsewhere,
} from "./changes.ts";
export { ConversationDirectory, type StoredConversation } from "./conversation-directory.ts";
export { ConversationError, findConversation } from "./conversations.ts";
export { type AllDefinitions, type PromptCommand, promptOf, readDefinitions, type Skill } from "./definitions/index.ts";
export { type Directories, directories } from "./directories.ts";
export { type Equipment, memoryFile, userMemory } from "./equipment/index.ts";
export { Hooks } from "./hooks/index.ts";
export type { Host } from "./host.ts";
export type { ContextPart, InstructionPart, Instructions } from "./instructions/index.ts";
export { modeLeft } from "./mode-left.ts";
export { type HostFlags, type HostOptions, openHost } from "./open-host.ts";
export * from "./permissions/index.ts";
export { type CommandPlace, type CommandRun, lastSaid, runPersonsCommand } from "./persons-command.ts";
export { type ProjectPlaces, projectOf } from "./project.ts";
export * from "./redaction/index.ts";
export * from "./settings/index.ts";
export * from "./trust/index.ts";
export { filledPrompt, type WrittenMessage, writtenMessage } from "./written-message.ts";
