export type { CommandDefinition } from "./commands/command.ts";
export type { ListedConversation } from "./commands/conversations.ts";
export {
  type Command,
  type CommandName,
  commandSchema,
  commands,
  type Result,
} from "./commands/index.ts";
export { type Right, rightFor } from "./commands/rights.ts";
export { approvalIn, approvalSettings, offeredModes, offersSandbox, type ServerSettings } from "./commands/settings.ts";
export type { Share } from "./commands/shares.ts";
export type { ClientTool } from "./commands/turns.ts";
export {
  type ErrorCode,
  errorCodes,
  type Hello,
  hello,
  type Problem,
  type ServerFrame,
  serverFrame,
  type Welcome,
} from "./frames.ts";
export { type JsonSchemas, jsonSchemas, type ProtocolSchema, referenceName, refTo } from "./json-schemas.ts";
export * from "./shapes/approval-modes.ts";
export * from "./shapes/bounds.ts";
export { eventSchemas } from "./shapes/event.ts";
export { delta, deltaSchemas, event, feedItem, knownItem, notice, noticeSchemas } from "./shapes/feed-item.ts";
export { message } from "./shapes/message.ts";
export { messageOpening, messageSize, type SnapshotOf, snapshotOf } from "./shapes/outline.ts";
export { cacheMiss, usage } from "./shapes/parts.ts";
export { count, dollars, listSchema } from "./shapes/shapes.ts";
export { type NarrowedRule, node, type OutlineNode, type Snapshot, snapshot } from "./shapes/snapshot.ts";
export { isCompatible, PROTOCOL, proofText } from "./version.ts";
