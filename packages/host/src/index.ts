export { type Environment, type ModelChoice, ModelChoiceError } from "@banyan/models";
export { WorkspaceError } from "@banyan/tools/workspace";
export { ConversationError, findConversation } from "./conversations.ts";
export { type Directories, directories } from "./directories.ts";
export { type Host, type HostFlags, type HostOptions, openHost } from "./host.ts";
export * from "./permissions/index.ts";
export * from "./settings/index.ts";
