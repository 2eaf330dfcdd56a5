export * from "./bounds.ts";
export type { CommandDefinition } from "./commands/command.ts";
export type { ListedConversation } from "./commands/conversations.ts";
export {
  type Command,
  type CommandName,
  commandSchema,
  commands,
  needs,
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
export { provenText } from "./proof.ts";
export { type Right, rights } from "./rights.ts";
export { type Node, node, type Snapshot, snapshot } from "./snapshot.ts";
export { isCompatible, PROTOCOL } from "./version.ts";
