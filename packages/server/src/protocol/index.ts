export * from "./bounds.ts";
export type { CommandDefinition, Right } from "./commands/command.ts";
export type { ListedConversation } from "./commands/conversations.ts";
export {
  type Command,
  type CommandName,
  commandSchema,
  commands,
  type Result,
} from "./commands/index.ts";
export { delta, event, feedItem, knownItem, notice } from "./feed-item.ts";
export {
  type ErrorCode,
  errorCodes,
  type Hello,
  hello,
  type Problem,
  type ServerFrame,
  type ServerSettings,
  serverFrame,
  type Welcome,
} from "./frames.ts";
export { message } from "./message.ts";
export { Mirror } from "./mirror.ts";
export { firstWords, type SnapshotOf, sizeOf, snapshotOf } from "./outline.ts";
export { type Node, node, type Snapshot, snapshot } from "./snapshot.ts";
export { isCompatible, PROTOCOL } from "./version.ts";
