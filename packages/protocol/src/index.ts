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
export type { Share } from "./commands/shares.ts";
export type { ClientTool } from "./commands/turns.ts";
export { eventSchemas } from "./event.ts";
export { delta, deltaSchemas, event, feedItem, knownItem, notice, noticeSchemas } from "./feed-item.ts";
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
export { type JsonSchema, type JsonSchemas, jsonSchemas, nameIn, refTo } from "./json-schemas.ts";
export { message } from "./message.ts";
export { firstWords, type SnapshotOf, sizeOf, snapshotOf } from "./outline.ts";
export { usage } from "./parts.ts";
export { approvalIn, type Right, rights } from "./rights.ts";
export { count, dollars, list } from "./shapes.ts";
export { type NarrowedRule, type Node, node, type Snapshot, snapshot } from "./snapshot.ts";
export { isCompatible, PROTOCOL, provenText } from "./version.ts";
